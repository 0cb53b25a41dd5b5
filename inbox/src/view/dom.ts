// A small virtual DOM: views describe elements, and `patch` makes the smallest change to match. Strings always become text,
// never elements.

type Listener = (event: never) => void
export type Value = string | number | boolean | null | undefined | Listener | Record<string, string>
export type Props = Record<string, Value>
export type Child = Described | Node | string | number | false | null | undefined
export interface Described {
  tag: string
  props: Props
  children: Child[]
}

const svgNamespace = 'http://www.w3.org/2000/svg'
/** The description each node was last drawn from. */
const made = new WeakMap<Node, Described>()
const listeners = new WeakMap<Node, Record<string, Listener>>()

/**
 * A property named `on…` is a listener, `key` identifies an element among its siblings, `ref` receives the new element,
 * `style` is an object. Anything else is an attribute, or a property where an attribute has no effect.
 */
export function h(tag: string, props: Props | null, ...children: Array<Child | Child[]>): Described {
  return { tag, props: props ?? {}, children: children.flat() }
}

/** Makes the children of `parent` match the descriptions. Reused nodes keep their focus and scroll position. */
export function patch(parent: Node, described: Child[]): void {
  const wanted = described.filter((child) => child !== false && child !== null && child !== undefined && child !== '')
  const old = [...parent.childNodes]
  const used = new Set<Node>()
  const nodes = wanted.map((child) => {
    const reused = child instanceof Node ? child : old.find((node) => !used.has(node) && isSame(node, child))
    const node = reused ?? create(child as Described | string | number, parent)
    used.add(node)
    if (!(child instanceof Node)) update(node, child as Described | string | number)
    return node
  })
  // Remove first: moving an element would take its focus.
  for (const node of old) if (!used.has(node)) node.remove()
  // A page may hand over a fragment, which is replaced by its child nodes.
  let there = parent.firstChild
  for (const node of nodes)
    if (node === there) there = there.nextSibling
    else parent.insertBefore(node, there)
}

function isSame(node: Node, child: Described | string | number | false | null | undefined): boolean {
  if (typeof child !== 'object' || child === null) return node.nodeType === Node.TEXT_NODE
  const before = made.get(node)
  return before !== undefined && before.tag === child.tag && before.props.key === child.props.key
}

function create(child: Described | string | number, parent: Node): Node {
  if (typeof child !== 'object') return document.createTextNode('')
  const { tag, props } = child
  const isSvg = tag === 'svg' || (parent instanceof SVGElement && parent.tagName !== 'foreignObject')
  const node = isSvg ? document.createElementNS(svgNamespace, tag) : document.createElement(tag)
  if (typeof props.ref === 'function') (props.ref as (node: Element) => void)(node)
  return node
}

function update(node: Node, child: Described | string | number): void {
  if (typeof child !== 'object') {
    const text = String(child)
    if (node.nodeValue !== text) node.nodeValue = text
    return
  }
  const before = made.get(node)
  made.set(node, child)
  const element = node as HTMLElement
  const names = new Set([...Object.keys(before?.props ?? {}), ...Object.keys(child.props)])
  // Options first: a select can only choose an option that exists.
  patch(node, child.children)
  for (const name of names) setProp(element, name, child.props[name], before?.props[name])
}

const asProperty = new Set(['value', 'checked', 'disabled', 'selected', 'hidden'])

function setProp(element: HTMLElement, name: string, value: Value, before: Value): void {
  if (name === 'key' || name === 'ref') return
  if (name.startsWith('on')) listen(element, name.slice(2).toLowerCase(), value as Listener | undefined)
  else if (name === 'style') style(element, (value ?? {}) as Record<string, string>)
  else if (asProperty.has(name)) {
    const target = element as unknown as Record<string, unknown>
    if (target[name] !== value) target[name] = value ?? (name === 'value' ? '' : false)
  } else if (value === before) return
  else if (value === false || value === null || value === undefined) element.removeAttribute(name)
  else element.setAttribute(name, value === true ? '' : String(value))
}

/** Through the CSS object model, which a strict content security policy allows. */
function style(element: HTMLElement, properties: Record<string, string>): void {
  for (const [name, value] of Object.entries(properties)) element.style.setProperty(name, value)
}

/** Keeps the first listener, which calls the latest one. */
function listen(element: HTMLElement, name: string, listener: Listener | undefined): void {
  const own = listeners.get(element) ?? {}
  listeners.set(element, own)
  if (!(name in own)) element.addEventListener(name, (event) => own[name]?.(event as never))
  own[name] = listener ?? (() => undefined)
}
