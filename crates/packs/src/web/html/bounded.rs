//! Parses a page and gives up when it becomes too much: the tree that a few bytes describe can be very large or very
//! deep, and the parser slow.

use std::borrow::Cow;
use std::cell::{Cell, Ref, RefCell};
use std::collections::HashMap;
use std::time::{Duration, Instant};

use dom_query::{Document, NodeId};
use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink as _};
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{Attribute, ParseOpts, QualName, parse_document};

/// How many bytes are parsed before looking whether it is too much.
const STEP: usize = 1024;

/// What indents the lines in it when it is written down, and by how much.
const INDENTED: [&str; 5] = ["ul", "ol", "menu", "dl", "blockquote"];
const INDENT: usize = 4;

/// How much is too much.
#[derive(Debug, Clone, Copy)]
pub(in crate::web) struct Bounds {
    /// How many elements may be in each other.
    pub(in crate::web) depth: u32,
    /// How many elements there may be.
    pub(in crate::web) elements: usize,
    /// How many blanks may stand before all lines together: a list in a list in a list has more of them than words.
    pub(in crate::web) margins: usize,
    /// How long parsing may take: a tag with very many attributes is one element, but slow.
    pub(in crate::web) time: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        // Browsers stop at the same depth.
        Self { depth: 512, elements: 500_000, margins: 4 << 20, time: Duration::from_secs(10) }
    }
}

/// What a page has too much of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(in crate::web) enum TooMuch {
    #[error("the page has more than {0} elements in each other")]
    Deep(u32),
    #[error("the page has more than {0} elements")]
    Many(usize),
    #[error("the page has too many lists in each other")]
    Indented,
    #[error("the page takes too long to parse")]
    Slow,
}

/// Parses a page, as a browser without scripts would.
pub(super) fn parse(html: &str, bounds: Bounds) -> Result<Document, TooMuch> {
    let until = Instant::now() + bounds.time;
    // Whoever reads this does not run scripts, but those who look at the page do.
    let tree_builder = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
    let mut parser = parse_document(Sink::new(bounds), ParseOpts { tree_builder, ..ParseOpts::default() });
    let mut rest = html;
    while !rest.is_empty() {
        let (step, behind) = rest.split_at(rest.ceil_char_boundary(STEP));
        parser.process(StrTendril::from(step));
        if let Some(too_much) = parser.tokenizer.sink.sink.too_much.get() {
            return Err(too_much);
        }
        if Instant::now() > until {
            return Err(TooMuch::Slow);
        }
        rest = behind;
    }
    let Sink { document, too_much, .. } = parser.finish();
    match too_much.get().or_else(|| judged(&document, bounds)) {
        Some(too_much) => Err(too_much),
        None => Ok(document),
    }
}

/// What a whole document has too much of: elements move while it is made, so only the whole of it tells how deep it is.
fn judged(document: &Document, bounds: Bounds) -> Option<TooMuch> {
    let mut margins = 0;
    let mut ahead = vec![(document.root(), 0, 0)];
    while let Some((node, depth, margin)) = ahead.pop() {
        let depth = depth + u32::from(node.is_element());
        if depth > bounds.depth {
            return Some(TooMuch::Deep(bounds.depth));
        }
        margins += margin * if node.is_text() { 1 + node.text().matches('\n').count() } else { 1 };
        if margins > bounds.margins {
            return Some(TooMuch::Indented);
        }
        let is_indented = INDENTED.iter().any(|name| node.has_name(name));
        let inner = margin + if is_indented { INDENT } else { 0 };
        ahead.extend(node.children_it(false).map(|child| (child, depth, inner)));
    }
    None
}

/// A document that counts what is put into it.
struct Sink {
    document: Document,
    bounds: Bounds,
    /// How deep each element was put; it may have moved since.
    depths: RefCell<HashMap<NodeId, u32>>,
    elements: Cell<usize>,
    too_much: Cell<Option<TooMuch>>,
}

impl Sink {
    fn new(bounds: Bounds) -> Self {
        let (depths, elements) = (RefCell::default(), Cell::new(0));
        Self { document: Document::default(), bounds, depths, elements, too_much: Cell::new(None) }
    }

    /// Notes how deep an element is put.
    fn put(&self, parent: &NodeId, child: &NodeOrText<NodeId>) {
        let NodeOrText::AppendNode(node) = child else { return };
        let depth = 1 + self.depths.borrow().get(parent).copied().unwrap_or(0);
        self.depths.borrow_mut().insert(*node, depth);
        if depth > self.bounds.depth {
            self.too_much.set(Some(TooMuch::Deep(self.bounds.depth)));
        }
    }

    /// Notes that an element is put beside another.
    fn put_beside(&self, sibling: &NodeId, child: &NodeOrText<NodeId>) {
        let NodeOrText::AppendNode(node) = child else { return };
        let depth = self.depths.borrow().get(sibling).copied().unwrap_or(0);
        self.depths.borrow_mut().insert(*node, depth);
    }
}

impl TreeSink for Sink {
    type Handle = NodeId;
    type Output = Self;
    type ElemName<'a> = Ref<'a, QualName>;

    fn finish(self) -> Self {
        self
    }

    // A page of nothing but errors would fill the memory with them.
    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> NodeId {
        self.document.get_document()
    }

    fn elem_name<'a>(&'a self, target: &'a NodeId) -> Ref<'a, QualName> {
        self.document.elem_name(target)
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, flags: ElementFlags) -> NodeId {
        self.elements.set(self.elements.get() + 1);
        if self.elements.get() > self.bounds.elements {
            self.too_much.set(Some(TooMuch::Many(self.bounds.elements)));
        }
        self.document.create_element(name, attrs, flags)
    }

    fn create_comment(&self, text: StrTendril) -> NodeId {
        self.document.create_comment(text)
    }

    fn create_pi(&self, target: StrTendril, data: StrTendril) -> NodeId {
        self.document.create_pi(target, data)
    }

    fn append(&self, parent: &NodeId, child: NodeOrText<NodeId>) {
        self.put(parent, &child);
        self.document.append(parent, child);
    }

    fn append_based_on_parent_node(&self, element: &NodeId, prev: &NodeId, child: NodeOrText<NodeId>) {
        self.put(prev, &child);
        self.document.append_based_on_parent_node(element, prev, child);
    }

    fn append_doctype_to_document(&self, name: StrTendril, public_id: StrTendril, system_id: StrTendril) {
        self.document.append_doctype_to_document(name, public_id, system_id);
    }

    fn get_template_contents(&self, target: &NodeId) -> NodeId {
        let contents = self.document.get_template_contents(target);
        let depth = self.depths.borrow().get(target).copied().unwrap_or(0);
        self.depths.borrow_mut().insert(contents, depth);
        contents
    }

    fn same_node(&self, x: &NodeId, y: &NodeId) -> bool {
        self.document.same_node(x, y)
    }

    fn set_quirks_mode(&self, mode: QuirksMode) {
        self.document.set_quirks_mode(mode);
    }

    fn append_before_sibling(&self, sibling: &NodeId, child: NodeOrText<NodeId>) {
        self.put_beside(sibling, &child);
        self.document.append_before_sibling(sibling, child);
    }

    fn add_attrs_if_missing(&self, target: &NodeId, attrs: Vec<Attribute>) {
        self.document.add_attrs_if_missing(target, attrs);
    }

    fn remove_from_parent(&self, target: &NodeId) {
        self.document.remove_from_parent(target);
    }

    fn reparent_children(&self, node: &NodeId, new_parent: &NodeId) {
        self.document.reparent_children(node, new_parent);
    }

    fn is_mathml_annotation_xml_integration_point(&self, handle: &NodeId) -> bool {
        self.document.is_mathml_annotation_xml_integration_point(handle)
    }
}
