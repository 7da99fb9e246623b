// Building the page. Text goes in as text: nothing here takes markup.

/** Stands before and after a command in a text. Text from anywhere has lost it. */
export const COMMAND = "\x01";

export const byId = (id) => document.getElementById(id);

const of = (element) => (element.nodeType ? element : byId(element));

/** Sets the text of an element, or of that with this id. One that stays is not touched: selections and screen readers keep their place. */
export function put(element, text) {
  const parts = (text ?? "").split(COMMAND);
  const place = of(element);
  if (place.textContent !== parts.join("")) place.replaceChildren(...parts.map((part, nth) => nth % 2 ? typed(part) : part));
}

/** A command, broken between its words and behind the slashes in them alone: a dash at the end of a line would be typed wrongly. */
const typed = (text) => make("code", {}, ...(text.match(/\/?[^ /]+\/?|\/| /g) ?? []).map((part) => part === " " ? part : make("span", {}, part)));

/** Sets attributes; null takes one away. */
export function set(where, attributes) {
  const element = of(where);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined) element.removeAttribute(name);
    else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
  }
  return element;
}

/** A new element with attributes and children, each an element or a text. */
export function make(tag, attributes = {}, ...children) {
  const element = set(document.createElement(tag), attributes);
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** The same for drawings. */
export function draw(tag, attributes = {}, text = null) {
  const element = set(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes);
  if (text !== null) element.textContent = text;
  return element;
}

/** Brings a parent's children in line with a list: one child a key, in its order, kept while the key stays. */
export function keep(parent, items, key, create, update) {
  const kept = [...parent.children].filter((child) => child.key !== undefined);
  const known = new Map(kept.map((child) => [child.key, child]));
  let [place = null] = kept;
  for (const item of items) {
    const name = key(item);
    let child = known.get(name);
    known.delete(name);
    if (!child) {
      child = create(item);
      child.key = name;
    }
    update(child, item);
    if (child === place) place = place.nextElementSibling;
    else parent.insertBefore(child, place);
  }
  for (const child of known.values()) child.remove();
}

/** A list of terms and their values. */
export function terms(list, pairs) {
  keep(list, pairs, ([name]) => name, ([name]) => make("div", {}, make("dt", {}, name), make("dd")),
    (row, [, value, note]) => {
      put(row.lastElementChild, value);
      set(row.lastElementChild, { title: note });
    });
}
