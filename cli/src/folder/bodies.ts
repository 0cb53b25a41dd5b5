// Which texts of a definition lie in files of their own, and in which ones. No two texts ever share a name.
import { armsOf, defaultOf } from '../../../server/src/steps/contract/tree.ts'
import { bodyFile, bodyToFile, folderNames, hashOf, isBlockFile } from './layout.ts'
import { isObject, type LocalResource, nameOf, placeKey } from './read.ts'
import type { Definition } from './source.ts'

interface Placed {
  key: string
  file: string
  text: string
  /** Whether it lies in this file already. */
  isKept: boolean
  isUnchanged: boolean
}

/**
 * The files of texts, by the place of the text. Texts stay in the files in which they are, and bodies of emails and layouts always
 * lie in files.
 */
export function filesOfTexts(
  kind: 'workflow' | 'layout',
  definition: Definition,
  old?: Pick<LocalResource, 'bodies' | 'definition'>,
): Map<string, string> {
  const bodies = bodiesIn(kind, definition)
  const before = textsIn(old?.definition ?? {})
  const wanted: Placed[] = []
  for (const [key, value] of textsIn(definition)) {
    const file = fileFor(old?.bodies.get(key), bodies.get(key))
    if (file === undefined) continue
    const isKept = file === old?.bodies.get(key)
    const isUnchanged = isKept && before.get(key) === value
    wanted.push({ key, file, text: bodyToFile(value, isBlockFile(file)), isKept, isUnchanged })
  }
  const files = new Map<string, string>()
  /** Some file systems do not tell apart what differs only in case. */
  const taken = new Map<string, Placed>()
  const rank = ({ isKept, isUnchanged }: Placed) => (isUnchanged ? 0 : isKept ? 1 : 2)
  for (const each of wanted.sort((a, b) => rank(a) - rank(b))) {
    const isFree = (file: string) => {
      const other = taken.get(file.toLowerCase())
      // Two members may name one file, as long as they say the same.
      const isShared = each.isKept && other?.isKept && other.file === file && other.text === each.text
      return file.toLowerCase() !== `${kind}.yaml` && (other === undefined || isShared)
    }
    const names = [each.file, bodies.get(each.key) ?? each.file, withHash(each.file, each.key)]
    const file = names.find(isFree) ?? withHash(each.file, `${each.key} again`)
    taken.set(file.toLowerCase(), { ...each, file })
    files.set(each.key, file)
  }
  return files
}

/** A body that is of the other editor by now gets another file. */
function fileFor(before: string | undefined, body: string | undefined): string | undefined {
  const isOfOther = before !== undefined && body !== undefined && isBlockFile(before) !== isBlockFile(body)
  return isOfOther ? body : (before ?? body)
}

/** `text~a1b2c3.liquid` */
const withHash = (file: string, key: string) => file.replace(/^([^.]*)/, `$1~${hashOf(key)}`)

/** With `{$file: name}` in the place of texts that lie in files. @param take is told of each text with its file */
export function withReferences(
  definition: Definition,
  files: ReadonlyMap<string, string>,
  take: (file: string, text: string) => void = () => undefined,
): Definition {
  return mapTexts(definition, (text, key) => {
    const file = files.get(key)
    if (file === undefined) return text
    take(file, text)
    return { $file: file }
  })
}

function textsIn(definition: Definition): Map<string, string> {
  const texts = new Map<string, string>()
  mapTexts(definition, (text, key) => {
    texts.set(key, text)
    return text
  })
  return texts
}

function mapTexts(definition: Definition, map: (text: string, key: string) => unknown): Definition {
  const walk = (value: unknown, at: string[]): unknown => {
    if (Array.isArray(value)) return value.map((item, index) => walk(item, [...at, nameOf(item, index)]))
    if (typeof value === 'string') return map(value, placeKey(at))
    if (!isObject(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        name,
        // A schema may have a member of any name.
        name === 'payloadSchema' && at.length === 0 ? member : walk(member, [...at, name]),
      ]),
    )
  }
  return walk(definition, []) as Definition
}

/** The bodies of emails, by their place, with the name of their file. */
function bodiesIn(kind: 'workflow' | 'layout', definition: Definition): Map<string, string> {
  const found = new Map<string, string>()
  if (kind === 'layout') {
    const email = isObject(definition.controlValues) ? definition.controlValues.email : undefined
    if (isObject(email) && typeof email.body === 'string')
      found.set(placeKey(['controlValues', 'email', 'body']), bodyFile('body', { editorType: 'block', ...email }))
    return found
  }
  const emails: Array<{ stepId: string; at: string[]; values: Definition }> = []
  const walk = (steps: unknown, above: string[]) => {
    for (const [index, step] of (Array.isArray(steps) ? (steps as Definition[]) : []).entries()) {
      const at = [...above, nameOf(step, index), 'controlValues']
      const values = isObject(step.controlValues) ? step.controlValues : {}
      if (step.type === 'email' && typeof values.body === 'string')
        emails.push({ stepId: String(step.stepId), at: [...at, 'body'], values })
      const tree = { ...step, type: String(step.type), controlValues: values }
      for (const [arm, { steps: inner }] of armsOf(tree).entries()) walk(inner, [...at, 'arms', String(arm), 'steps'])
      walk(defaultOf(tree)?.steps, [...at, 'default', 'steps'])
    }
  }
  walk(definition.steps, ['steps'])
  const names = folderNames(emails.map(({ stepId }) => stepId))
  for (const { stepId, at, values } of emails)
    found.set(placeKey(at), bodyFile(names.get(stepId) ?? stepId, { editorType: 'block', ...values }))
  return found
}
