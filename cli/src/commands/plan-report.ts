// The report of a plan as a page: what changes in the definitions, and messages before and after, side by side. It needs nothing
// else to be looked at, and runs no scripts.
import { diffLines, diffWordsWithSpace } from 'diff'
import { inWords, type Plan, type Render } from '../remote.ts'
import { counted, countedOf } from '../words.ts'

const escaped = (text: unknown) =>
  String(text ?? '').replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

const style = `
:root { color-scheme: light dark }
body { font: 14px/1.45 system-ui, sans-serif; margin: 0 auto; max-width: 1200px; padding: 24px }
h1 { font-size: 20px } h2 { font-size: 16px; margin: 32px 0 8px; border-top: 1px solid #8884; padding-top: 16px }
h3 { font: 12.5px ui-monospace, monospace; margin: 12px 0 4px; color: GrayText }
.sides { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 16px }
.sides h4 { font-size: 12px; color: GrayText; margin: 0 0 4px }
figure { margin: 0; border: 1px solid #8884; border-radius: 8px; overflow: hidden }
figcaption { padding: 10px 14px; border-bottom: 1px solid #8884; font-weight: 600 }
iframe { display: block; width: 100%; height: 480px; border: 0; background: #fff; color-scheme: light }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font: 12.5px/1.5 ui-monospace, monospace; margin: 0; padding: 10px 14px }
.paths pre { border: 1px solid #8884; border-radius: 8px }
ins { background: #22c55e40; text-decoration: none } del { background: #ef444440 }
.none { color: GrayText; padding: 24px; text-align: center } .error { color: #b91c1c }
@media (max-width: 700px) { .sides { grid-template-columns: minmax(0, 1fr) } }
`

export function reportOf({
  changes,
  conflicts,
  issues,
  renders = [],
  hasMore = false,
  waiting = [],
  summary,
}: Plan): string {
  const different = renders.filter(({ same }) => !same)
  const notes = [
    ...conflicts.map(({ kind, id, why }) => `Conflict: ${kind} ${id} (${why})`),
    ...issues.map(({ kind, id, stepId, path, message }) => `Issue: ${kind} ${id} ${stepId ?? ''} ${path}: ${message}`),
    ...waiting
      .filter(({ change }) => change !== 'none')
      .map(
        ({ workflowId, stepId, runs, change }) =>
          `${waitingInWords(runs)} in ${workflowId} ${stepId}, which is ${change}`,
      ),
    ...(renders.length > 0 ? [differingInWords(renders)] : []),
    ...(hasMore ? ['There are more messages; these are the first'] : []),
  ]
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Plan: ${escaped(inWords(summary))}</title>
<style>${style}</style>
<h1>Plan</h1>
<p>${escaped(inWords(summary))}</p>
<ul>${notes.map((note) => `<li>${escaped(note)}</li>`).join('')}</ul>
${different.map(messageOf).join('\n')}
${changes.map(changeOf).join('\n')}
</html>
`
}

function changeOf({ kind, id, action, paths = [] }: Plan['changes'][number]): string {
  const places = paths.map((each) => `<h3>${escaped(each.path)}</h3><pre>${markedLines(each)}</pre>`)
  return `<section class="paths"><h2>${escaped(`${kind} ${id}, ${action}`)}</h2>${places.join('')}</section>`
}

const markedLines = ({ before, after }: { before: unknown; after: unknown }): string =>
  diffLines(textOf(before), textOf(after))
    .map(({ value, added, removed }) =>
      added ? `<ins>${escaped(value)}</ins>` : removed ? `<del>${escaped(value)}</del>` : escaped(value),
    )
    .join('')

const textOf = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value, null, 2)

export const differingInWords = (renders: readonly Render[], orMore = false): string =>
  countedOf(renders.filter(({ same }) => !same).length, renders.length, 'message', 'differ', { orMore })

export const waitingInWords = (runs: number): string => `${counted(runs, 'run')} ${runs === 1 ? 'waits' : 'wait'}`

export const audienceOf = ({ subscriberId, transactionId }: Pick<Render, 'subscriberId' | 'transactionId'>): string =>
  `for ${subscriberId ?? 'an example'}${transactionId === null ? '' : ` (${transactionId})`}`

function messageOf(render: Render): string {
  const { workflowId, stepId, channel, before, after, error } = render
  const side = (title: string, message: Render['before'], other: Render['before'], mark: 'del' | 'ins') =>
    `<div><h4>${title}</h4>${message ? frameOf(channel, message, other, mark) : '<figure class="none">No message</figure>'}</div>`
  return `<section><h2>${escaped(`${workflowId} ${stepId}, ${channel}, ${audienceOf(render)}`)}</h2>
${error === null ? '' : `<p class="error">${escaped(error)}</p>`}
<div class="sides">${side('Before', before, after, 'del')}${side('After', after, before, 'ins')}</div></section>`
}

/** An email as its reader sees it; of others, each member. What differs is marked. */
function frameOf(
  channel: string,
  message: Record<string, unknown>,
  other: Record<string, unknown> | null,
  mark: 'del' | 'ins',
): string {
  const marked = (member: string) => {
    const [own, others] = [textOf(message[member]), other ? textOf(other[member]) : textOf(message[member])]
    const [from, to] = mark === 'del' ? [own, others] : [others, own]
    return diffWordsWithSpace(from, to)
      .filter(({ added, removed }) => (mark === 'del' ? !added : !removed))
      .map(({ value, added, removed }) => (added || removed ? `<${mark}>${escaped(value)}</${mark}>` : escaped(value)))
      .join('')
  }
  if (channel === 'email')
    return `<figure><figcaption>${marked('subject')}</figcaption><iframe sandbox title="Email" srcdoc="${escaped(message.html)}"></iframe></figure>`
  const members = Object.keys(message).filter((name) => name !== 'subject' && textOf(message[name]) !== '')
  const rest = members.map((name) => (name === 'body' ? marked(name) : `${escaped(name)}: ${marked(name)}`)).join('\n')
  const caption = textOf(message.subject) === '' ? '' : `<figcaption>${marked('subject')}</figcaption>`
  return `<figure>${caption}<pre>${rest}</pre></figure>`
}
