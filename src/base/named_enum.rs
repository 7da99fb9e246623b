//! Plain enums whose values have one name each: on the command line, in the config and in JSON.

/// Defines such an enum, with its list of names, `Display`, `FromStr` and serde by name.
macro_rules! named_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$value_doc:meta])* $value:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$value_doc])* #[serde(rename = $text)] $value),+
        }

        impl $name {
            /// Every name, in order.
            pub const NAMES: &[&str] = &[$($text),+];

            /// The value's name.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$value => $text),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $($text => Ok(Self::$value),)+
                    _ => Err(format!("must be one of {}", Self::NAMES.join(", "))),
                }
            }
        }
    };
}

pub(crate) use named_enum;
