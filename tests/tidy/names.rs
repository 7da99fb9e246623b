//! Which file of `src` uses a name of which other: paths are followed through imports and re-exports to the file that
//! defines the name, as a reader would follow them.
//!
//! Method calls are not seen, since their types are not known here; what a method takes and returns is.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Field, ImplItem, Item, ItemUse, Macro, Stmt, UseTree, Visibility};

use crate::tree::{Module, Source, Tree, attributes, is_test_only};

/// The crate's name in its own paths.
const CRATE: &str = "svc_guard";
/// Re-exports of re-exports are followed so far.
const MAX_STEPS: usize = 16;

/// A use of a name by a file.
pub(crate) struct Arrow {
    /// The file that uses it.
    pub(crate) from: String,
    pub(crate) line: usize,
    /// The path as written.
    pub(crate) path: String,
    pub(crate) target: Target,
}

/// Where a path leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// To a module of the crate.
    Module(Module),
    /// To what the file of this module defines.
    Item(Module),
    /// Out of the crate: the whole path.
    Outside(String),
}

/// A path as a module has it.
struct Written {
    segments: Vec<String>,
    line: usize,
    /// A re-export is no use by itself.
    is_reexport: bool,
}

/// What a module holds.
#[derive(Default)]
struct Scope {
    file: String,
    children: BTreeSet<String>,
    defined: BTreeSet<String>,
    imports: BTreeMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
    written: Vec<Written>,
}

/// All modules of the program, test code left out.
pub(crate) struct Names {
    scopes: BTreeMap<Module, Scope>,
}

impl Names {
    pub(crate) fn of(tree: &Tree) -> Self {
        let mut names = Names { scopes: BTreeMap::new() };
        for source in tree.production() {
            if let Some(module) = &source.module {
                let mut reader = Reader { names: &mut names, source, module: module.clone() };
                reader.open();
                reader.visit_file(&source.syntax);
            }
        }
        names
    }

    /// The file that a module stands in.
    pub(crate) fn file(&self, module: &[String]) -> &str {
        &self.scopes[module].file
    }

    /// Every use of a name of another file or from outside.
    pub(crate) fn arrows(&self) -> Vec<Arrow> {
        let mut arrows = Vec::new();
        for (module, scope) in &self.scopes {
            for written in scope.written.iter().filter(|written| !written.is_reexport) {
                if let Some(target) = self.resolve(module, &written.segments, 0) {
                    let path = written.segments.join("::");
                    arrows.push(Arrow { from: scope.file.clone(), line: written.line, path, target });
                }
            }
        }
        arrows
    }

    /// Where a path leads that stands in `module`.
    fn resolve(&self, module: &[String], path: &[String], steps: usize) -> Option<Target> {
        if steps > MAX_STEPS {
            return None;
        }
        let (first, mut rest) = path.split_first()?;
        let mut target = match first.as_str() {
            "crate" | CRATE => Target::Module(Vec::new()),
            "self" => Target::Module(module.to_vec()),
            "super" => Target::Module(module.split_last()?.1.to_vec()),
            name => match self.look_up(module, name, steps) {
                Some(target) => target,
                None => return Some(Target::Outside(path.join("::"))),
            },
        };
        while let Some((name, more)) = rest.split_first() {
            target = match target {
                Target::Module(inner) if name == "super" => Target::Module(inner.split_last()?.1.to_vec()),
                // What a macro makes is defined nowhere that is seen here: it counts as the module's.
                Target::Module(inner) => self.look_up(&inner, name, steps).unwrap_or(Target::Item(inner)),
                Target::Item(_) => return Some(target),
                Target::Outside(start) => Target::Outside(format!("{start}::{name}")),
            };
            rest = more;
        }
        Some(target)
    }

    /// What `name` is in `module`.
    fn look_up(&self, module: &[String], name: &str, steps: usize) -> Option<Target> {
        let scope = self.scopes.get(module)?;
        if scope.children.contains(name) {
            return Some(Target::Module([module, &[name.to_owned()]].concat()));
        }
        if scope.defined.contains(name) {
            return Some(Target::Item(module.to_vec()));
        }
        if let Some(path) = scope.imports.get(name) {
            return self.resolve(module, path, steps + 1);
        }
        scope.globs.iter().find_map(|path| match self.resolve(module, path, steps + 1)? {
            Target::Module(inner) if inner != module => self.look_up(&inner, name, steps + 1),
            _ => None,
        })
    }
}

/// Fills the scopes from one file.
struct Reader<'a> {
    names: &'a mut Names,
    source: &'a Source,
    module: Module,
}

impl Reader<'_> {
    fn open(&mut self) {
        let scope = self.names.scopes.entry(self.module.clone()).or_default();
        scope.file.clone_from(&self.source.path);
    }

    fn scope(&mut self) -> &mut Scope {
        self.names.scopes.entry(self.module.clone()).or_default()
    }

    fn define(&mut self, name: &impl ToString) {
        let name = name.to_string();
        self.scope().defined.insert(name);
    }

    fn write(&mut self, segments: Vec<String>, line: usize, is_reexport: bool) {
        self.scope().written.push(Written { segments, line, is_reexport });
    }

    /// The leaves of a `use`.
    fn import(&mut self, tree: &UseTree, prefix: &[String], item: &ItemUse) {
        let with = |name: &dyn ToString| [prefix, &[name.to_string()]].concat();
        let (name, path) = match tree {
            UseTree::Path(path) => return self.import(&path.tree, &with(&path.ident), item),
            UseTree::Group(group) => return group.items.iter().for_each(|tree| self.import(tree, prefix, item)),
            UseTree::Glob(_) => {
                self.scope().globs.push(prefix.to_vec());
                return;
            }
            UseTree::Name(name) if name.ident == "self" => {
                (prefix.last().cloned().unwrap_or_default(), prefix.to_vec())
            }
            UseTree::Name(name) => (name.ident.to_string(), with(&name.ident)),
            UseTree::Rename(rename) if rename.ident == "self" => (rename.rename.to_string(), prefix.to_vec()),
            UseTree::Rename(rename) => (rename.rename.to_string(), with(&rename.ident)),
        };
        let line = tree.span().start().line;
        let is_reexport = !matches!(item.vis, Visibility::Inherited);
        self.write(path.clone(), line, is_reexport);
        self.scope().imports.insert(name, path);
    }

    /// The paths in a macro's tokens.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        let mut line = 0;
        for token in tokens {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == ':' && !path.is_empty() => colons += 1,
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.end_path(&mut path, line);
                        line = ident.span().start().line;
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Group(group) => {
                    self.end_path(&mut path, line);
                    colons = 0;
                    self.tokens(group.stream());
                }
                _ => {
                    self.end_path(&mut path, line);
                    colons = 0;
                }
            }
        }
        self.end_path(&mut path, line);
    }

    fn end_path(&mut self, path: &mut Vec<String>, line: usize) {
        if !path.is_empty() {
            let path = std::mem::take(path);
            self.write(path, line, false);
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if is_test_only(attributes(item)) {
            return;
        }
        match item {
            Item::Const(item) => self.define(&item.ident),
            Item::Enum(item) => self.define(&item.ident),
            Item::Fn(item) => self.define(&item.sig.ident),
            Item::Static(item) => self.define(&item.ident),
            Item::Struct(item) => self.define(&item.ident),
            Item::Trait(item) => self.define(&item.ident),
            Item::Type(item) => self.define(&item.ident),
            Item::Macro(item) => {
                if let Some(name) = &item.ident {
                    self.define(name);
                }
            }
            Item::Use(item) => return self.import(&item.tree, &[], item),
            Item::Mod(item) => {
                self.scope().children.insert(item.ident.to_string());
                if item.content.is_some() {
                    self.module.push(item.ident.to_string());
                    self.open();
                    visit::visit_item_mod(self, item);
                    self.module.pop();
                }
                return;
            }
            _ => {}
        }
        visit::visit_item(self, item);
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let attrs = match item {
            ImplItem::Const(item) => &item.attrs,
            ImplItem::Fn(item) => &item.attrs,
            ImplItem::Type(item) => &item.attrs,
            ImplItem::Macro(item) => &item.attrs,
            _ => return,
        };
        if !is_test_only(attrs) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_field(&mut self, field: &'ast Field) {
        if !is_test_only(&field.attrs) {
            visit::visit_field(self, field);
        }
    }

    fn visit_stmt(&mut self, stmt: &'ast Stmt) {
        let is_left_out = matches!(stmt, Stmt::Local(local) if is_test_only(&local.attrs));
        if !is_left_out {
            visit::visit_stmt(self, stmt);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.write(segments, path.span().start().line, false);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, mac: &'ast Macro) {
        visit::visit_macro(self, mac);
        self.tokens(mac.tokens.clone());
    }

    /// `pub(in path)` and attributes use nothing.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
}
