// Defines the elements. Built as a script, `inbox.js`, with the global `Belfry`, and as a module, `elements.js`.
// biome-ignore-all lint/performance/noBarrelFile: what a page's programs get
import { origin } from './elements/element.ts'
import { BellElement, InboxElement, NotificationsElement, PreferencesElement } from './elements/inbox-element.ts'
import { ConnectElement, FollowElement, ToastsElement } from './elements/small-elements.ts'

export { InboxError } from './data/api.ts'
export { InboxClient } from './data/client.ts'
export { FilterCounts } from './data/counts.ts'
export {
  BellElement,
  ConnectElement,
  FollowElement,
  InboxElement,
  NotificationsElement,
  PreferencesElement,
  ToastsElement,
}

const script = globalThis.document?.currentScript
if (script && 'src' in script && script.src) origin.url = new URL('.', String(script.src)).href

const elements = {
  'belfry-inbox': InboxElement,
  'belfry-bell': BellElement,
  'belfry-notifications': NotificationsElement,
  'belfry-preferences': PreferencesElement,
  'belfry-follow': FollowElement,
  'belfry-connect': ConnectElement,
  'belfry-toasts': ToastsElement,
}
for (const [name, element] of Object.entries(elements))
  if (globalThis.customElements && !customElements.get(name)) customElements.define(name, element)
