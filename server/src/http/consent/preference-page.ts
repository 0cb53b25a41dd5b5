// The page of preferences, for people who have no account here: made on the server, one form that works with JavaScript off.
import { escapeUTF8 } from 'entities'
import { type ConsentLanguage, type ConsentTexts, consentTexts } from '../../render/consent-texts.ts'
import { addressOf, logoOf, nameOf, type PageBrand, usualColor, whole } from './page.ts'

export type PageChannel = keyof ConsentTexts['channels']

export interface ShownWorkflow {
  identifier: string
  name: string
  isCommercial: boolean
  category: string | null
  /** Nobody can switch it off. */
  isLocked: boolean
  /** A fixed one is held back by something that a switch does not end, such as STOP by text message. */
  channels: Array<{ channel: PageChannel; isOn: boolean; isFixed: boolean }>
}

export interface PreferencePage {
  brand: PageBrand
  language: ConsentLanguage
  timezone: string | null
  workflows: ShownWorkflow[]
  snoozedUntil: Date | undefined
  /** Which of their addresses refuse everything commercial. */
  stopped: 'none' | 'some' | 'all'
  /** Whether they have an address that could. */
  canStop: boolean
  /** The suppression list holds back what the preferences alone let pass, or would if a switch were moved. */
  isHeldBack: boolean
  isSaved: boolean
}

/** In days; the page offers no others. */
export const snoozeDays = [7, 30, 90]

export function preferencePage(page: PreferencePage): string {
  const { brand, language, workflows, stopped, isHeldBack, isSaved } = page
  const hasStopped = stopped === 'all'
  // With JavaScript an element takes the form's place, which knows the preferences alone.
  const isPlain = stopped !== 'none' || isHeldBack
  const texts = consentTexts[language]
  const open = workflows.filter(({ isLocked }) => !isLocked)
  const offers = open.filter(({ isCommercial }) => isCommercial)
  const others = open.filter(({ isCommercial }) => !isCommercial)
  // Dead addresses get nothing, whatever is critical: nobody shall be told that it always reaches them.
  const locked = workflows
    .map((each) => ({ ...each, channels: each.channels.filter(({ isOn }) => isOn) }))
    .filter(({ isLocked, channels }) => isLocked && channels.length > 0)
  const offered = (hasStopped ? others : open).flatMap(({ channels }) => channels)
  const content = `${logoOf(brand)}${nameOf(brand)}
<h1>${escapeUTF8(texts.heading)}</h1>
<p role="status"${isSaved ? ' class="status"' : ''}>${isSaved ? escapeUTF8(texts.saved) : ''}</p>
<h2 class="hidden">${escapeUTF8(texts.preferences)}</h2>
<form method="post" id="preferences"${isPlain ? ' data-plain' : ''}>
${
  hasStopped
    ? ''
    : byCategory(offers)
        .map(([category, list]) => group(category ?? texts.offers, list, texts))
        .join('\n')
}
${others.length === 0 ? '' : group(offers.length === 0 ? texts.preferences : texts.others, others, texts)}
${offered.some(({ isFixed }) => isFixed) ? `<p>${escapeUTF8(texts.fixed)}</p>` : ''}
${locked.length === 0 ? '' : lockedGroup(locked, texts)}
${offered.length + locked.length > 0 || hasStopped ? '' : `<p id="nothing">${escapeUTF8(texts.nothing)}</p>`}
${offered.every(({ isFixed }) => isFixed) ? '' : `<button type="submit" id="save">${escapeUTF8(texts.save)}</button>`}
${offers.length === 0 ? '' : refusing(page, texts)}
</form>
${addressOf(brand)}`
  const title = brand.name === null ? texts.preferences : `${texts.preferences} – ${brand.name}`
  const head = '\n<script src="/inbox.js" defer></script>\n<script src="/inbox/hosted-preferences.js" defer></script>'
  return whole({ title, content, language, color: brand.primaryColor ?? usualColor, head })
}

/** Those without a category first. */
function byCategory(workflows: ShownWorkflow[]): Array<[string | null, ShownWorkflow[]]> {
  const groups = new Map<string | null, ShownWorkflow[]>([[null, []]])
  for (const each of workflows) groups.set(each.category, [...(groups.get(each.category) ?? []), each])
  return [...groups].filter(([, list]) => list.length > 0)
}

const group = (title: string, workflows: ShownWorkflow[], texts: ConsentTexts) =>
  `<fieldset><legend>${escapeUTF8(title)}</legend>
${workflows.map((each) => choice(each, texts)).join('\n')}
</fieldset>`

function choice({ identifier, name, channels }: ShownWorkflow, texts: ConsentTexts): string {
  const boxes = channels.map(({ channel, isOn, isFixed }) => {
    const value = escapeUTF8(`${identifier}:${channel}`)
    const label = `<span class="hidden">${escapeUTF8(name)}: </span>${escapeUTF8(texts.channels[channel])}`
    // Says how it stood, so that an old page moves only what its reader has moved.
    const shown = `<input type="hidden" name="shown" value="${value}"><input type="hidden" name="was" value="${isOn ? 'on' : 'off'}:${value}">`
    return `${isFixed ? '' : shown}<label><input type="checkbox" name="on" value="${value}"${isOn ? ' checked' : ''}${isFixed ? ' disabled' : ''}>${label}</label>`
  })
  return `<div class="choice"><span>${escapeUTF8(name)}</span>${boxes.join('')}</div>`
}

function lockedGroup(workflows: ShownWorkflow[], texts: ConsentTexts): string {
  const lines = workflows.map(({ name, channels }) => {
    const words = channels.map(({ channel }) => escapeUTF8(texts.channels[channel])).join(', ')
    return `<li class="choice"><span>${escapeUTF8(name)}</span><span>${words}</span></li>`
  })
  return `<section id="always"><h2>${escapeUTF8(texts.always)}</h2><ul>${lines.join('')}</ul></section>`
}

function refusing({ snoozedUntil, stopped, canStop, language, timezone }: PreferencePage, texts: ConsentTexts): string {
  const button = (name: string, value: string | number, words: string) =>
    `<button class="quiet" type="submit" name="${name}" value="${value}">${escapeUTF8(words)}</button>`
  if (stopped === 'all')
    return `<h2>${escapeUTF8(texts.offers)}</h2><p>${escapeUTF8(texts.stopped)}</p>${button('all', 'on', texts.allow)}`
  const pause = snoozedUntil
    ? `<p>${escapeUTF8(texts.paused.replace('{date}', dayOf(snoozedUntil, language, timezone)))}</p>${button('snooze', 0, texts.resume)}`
    : `<div class="buttons">${snoozeDays.map((days) => button('snooze', days, texts.days.replace('{days}', String(days)))).join('')}</div>`
  const stopping = `<h2>${escapeUTF8(texts.offers)}</h2>${button('all', 'off', texts.stopAll)}`
  return `<h2>${escapeUTF8(texts.pause)}</h2>${pause}
${canStop ? stopping : ''}${stopped === 'some' ? button('all', 'on', texts.allow) : ''}`
}

function dayOf(date: Date, language: ConsentLanguage, timezone: string | null): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: timezone ?? 'UTC' }).format(date)
}
