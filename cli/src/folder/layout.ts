// Where things lie in the folder.
import { createHash } from 'node:crypto'
import type { Definition } from './source.ts'

export const kindNames = {
  workflows: 'workflow',
  layouts: 'layout',
  translations: 'translation',
  topics: 'topic',
  integrations: 'integration',
  variables: 'variable',
} as const
export type KindName = keyof typeof kindNames
export type Kind = (typeof kindNames)[KindName]

export const usualKinds: readonly KindName[] = ['workflows', 'layouts', 'translations']

/** One file holds all of the kind. */
export const listFiles: Partial<Record<Kind, { file: string; idIn: string }>> = {
  topic: { file: 'topics.yaml', idIn: 'key' },
  integration: { file: 'integrations.yaml', idIn: 'identifier' },
  variable: { file: 'variables.yaml', idIn: 'key' },
}

export const schemaLine = (place: string) => ` yaml-language-server: $schema=${place}`

/** Names that Windows refuses, with or without an extension. */
const reserved = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?$/i

/** Folders by identifier. Those that differ only in case, and those that Windows refuses, get a part of their hash. */
export function folderNames(ids: readonly string[]): Map<string, string> {
  const counts = new Map<string, number>()
  for (const id of ids) counts.set(id.toLowerCase(), (counts.get(id.toLowerCase()) ?? 0) + 1)
  const isSpecial = (id: string) => (counts.get(id.toLowerCase()) ?? 0) > 1 || reserved.test(id) || /[.\s]$/.test(id)
  return new Map(ids.map((id) => [id, isSpecial(id) ? `${id}~${hashOf(id)}` : id]))
}

/** Six hex digits of its SHA-256. */
export const hashOf = (id: string) => createHash('sha256').update(id).digest('hex').slice(0, 6)

/** The file of an email's or layout's body. */
export const bodyFile = (name: string, { editorType }: Definition): string =>
  `${name}.${editorType === 'html' ? 'html' : 'block.json'}`

export const isBlockFile = (file: string): boolean => file.endsWith('.block.json')

/** A block document is indented in its file; other text is not changed. */
export function bodyToFile(body: string, isBlock: boolean): string {
  if (!isBlock) return body
  const document = documentIn(body)
  return document === undefined ? body : JSON.stringify(document, null, 2)
}

/** … and stored without spaces. */
export function bodyFromFile(text: string, file: string): string {
  if (!isBlockFile(file)) return text
  const document = documentIn(text)
  return document === undefined ? text : JSON.stringify(document)
}

function documentIn(text: string): unknown {
  if (!text.trimStart().startsWith('{')) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
