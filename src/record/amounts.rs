//! Amounts as records and the status write them: the shortest text, and `null` for what is not known.

/// An amount that is always known.
pub mod known {
    use rust_decimal::Decimal;
    use serde::{Deserialize, Deserializer, Serializer, de};
    use std::borrow::Cow;

    use crate::base::amount::{parse_info, to_wire};

    /// Writes it.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(amount: &Decimal, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&to_wire(*amount))
    }

    /// Reads it.
    ///
    /// # Errors
    /// When it is no plain decimal number in a text.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Decimal, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        parse_info(&text).map_err(de::Error::custom)
    }
}

/// An amount that may not be known. Whatever cannot be read as one is not known either.
pub mod or_null {
    use rust_decimal::Decimal;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::Value;

    use crate::base::amount::{parse_info, to_wire};

    /// Writes it.
    ///
    /// # Errors
    /// Those of the serializer.
    #[allow(clippy::ref_option, reason = "the form that serde asks for")]
    pub fn serialize<S: Serializer>(amount: &Option<Decimal>, serializer: S) -> Result<S::Ok, S::Error> {
        amount.map(to_wire).serialize(serializer)
    }

    /// Reads it.
    ///
    /// # Errors
    /// When it is no JSON at all.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Decimal>, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Ok(value.as_str().and_then(|text| parse_info(text).ok()))
    }
}
