//! How much one has to read at once: lines of a function and of a file, and a function's parameters.

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{FnArg, ImplItemFn, Item, ItemFn, ItemImpl, ItemTrait, Signature, TraitItemFn, Type};

use crate::tree::{Breaches, Source, Tree, attributes, is_test_only};

/// A function of the program fits a screen.
const MAX_FUNCTION: usize = 70;
/// One of a test may be a longer story.
const MAX_TEST_FUNCTION: usize = 120;
/// Beside `self`.
const MAX_PARAMETERS: usize = 6;
const MAX_FILE: usize = 400;

/// Functions with too many lines.
pub(crate) fn long_functions(tree: &Tree) -> Breaches {
    let limit = |function: &Function| if function.is_test { MAX_TEST_FUNCTION } else { MAX_FUNCTION };
    functions(tree)
        .iter()
        .filter(|function| function.lines > limit(function))
        .map(|function| (function.name.clone(), format!("{} lines, at most {}", function.lines, limit(function))))
        .collect()
}

/// Functions with too many parameters.
pub(crate) fn many_parameters(tree: &Tree) -> Breaches {
    functions(tree)
        .iter()
        .filter(|function| function.parameters > MAX_PARAMETERS)
        .map(|function| {
            (function.name.clone(), format!("{} parameters, at most {MAX_PARAMETERS}", function.parameters))
        })
        .collect()
}

/// Files with too many lines.
pub(crate) fn long_files(texts: &[(String, String)]) -> Breaches {
    texts
        .iter()
        .filter(|(path, _)| path.ends_with(".rs") || path.ends_with(".py"))
        .map(|(path, text)| (path, text.lines().count()))
        .filter(|(_, lines)| *lines > MAX_FILE)
        .map(|(path, lines)| (path.clone(), format!("{lines} lines, at most {MAX_FILE}")))
        .collect()
}

struct Function {
    /// The file, and the name with its type's.
    name: String,
    lines: usize,
    parameters: usize,
    is_test: bool,
}

fn functions(tree: &Tree) -> Vec<Function> {
    let mut found = Vec::new();
    for source in &tree.sources {
        let mut reader = Reader { source, owner: String::new(), is_test: source.is_test, found: &mut found };
        reader.visit_file(&source.syntax);
    }
    found
}

struct Reader<'a> {
    source: &'a Source,
    owner: String,
    is_test: bool,
    found: &'a mut Vec<Function>,
}

impl Reader<'_> {
    fn take(&mut self, signature: &Signature, whole: &impl Spanned) {
        let parameters = signature.inputs.iter().filter(|input| matches!(input, FnArg::Typed(_))).count();
        let lines = whole.span().end().line + 1 - signature.span().start().line;
        let name = format!("{} {}{}", self.source.path, self.owner, signature.ident);
        self.found.push(Function { name, lines, parameters, is_test: self.is_test });
    }

    fn below(&mut self, owner: String, visit: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.owner, owner);
        visit(self);
        self.owner = outer;
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let outer = self.is_test;
        self.is_test |= is_test_only(attributes(item));
        visit::visit_item(self, item);
        self.is_test = outer;
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        let owner = match &*item.self_ty {
            Type::Path(path) => path.path.segments.last().map(|segment| format!("{}::", segment.ident)),
            _ => None,
        };
        self.below(owner.unwrap_or_default(), |reader| visit::visit_item_impl(reader, item));
    }

    fn visit_item_trait(&mut self, item: &'ast ItemTrait) {
        self.below(format!("{}::", item.ident), |reader| visit::visit_item_trait(reader, item));
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.take(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.take(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        self.take(&item.sig, &item.sig);
        if let Some(found) = self.found.last_mut().filter(|_| item.default.is_some()) {
            found.lines = item.span().end().line + 1 - item.sig.span().start().line;
        }
        visit::visit_trait_item_fn(self, item);
    }
}
