// Validates the content of a layout, and lists the variables it can use.
import type { Db, Tx } from '../../db/core/database.ts'
import { envKeysOf } from '../../db/core/environment-access.ts'
import type { LayoutContent } from '../../db/queries/layouts.ts'
import { fail } from '../../errors.ts'
import type { Analysis } from '../../render/analyse.ts'
import { analyseBody } from '../../render/analyse-email.ts'
import { type BlockNode, readDocument } from '../../render/blocks.ts'
import { Cache } from '../../render/cache.ts'
import { RenderError } from '../../render/limits.ts'
import type { ControlIssue } from '../../steps/check/issues.ts'
import { templateIssues } from '../../steps/check/template-issues.ts'
import { contextVariables, envVariables, linkVariables, subscriberVariables } from '../../steps/check/variables.ts'
import { objectSchema } from '../../steps/contract/kind.ts'
import { linkNames } from '../../steps/delivery/consent-links.ts'
import type { JsonSchema } from '../../steps/json-schema/run.ts'

type Email = NonNullable<LayoutContent['email']>

const analyses = new Cache<Analysis>(4 * 1024 * 1024)
const analyse = (body: string) => analyses.get(body, () => analyseBody(body, { isLayout: true }))

/**
 * Fewer than a step can use: a layout surrounds emails of any workflow, so it cannot rely on the payload or steps of one.
 */
export async function layoutVariables(
  db: Db | Tx,
  environmentId: string,
  body: string | undefined,
): Promise<JsonSchema> {
  return variablesWith(await envKeysOf(db, environmentId), body)
}

/** The same where the keys of the environment's variables are known. */
export function variablesWith(envKeys: string[], body: string | undefined): JsonSchema {
  const used = body === undefined ? [] : analyse(body).variables.map(({ segments }) => segments)
  return objectSchema({
    subscriber: subscriberVariables(used),
    content: { type: 'string', description: 'The content of the email' },
    context: contextVariables(used),
    env: envVariables(envKeys),
    ...linkVariables(Object.keys(linkNames)),
  })
}

const mostIssues = 100

/** Unlike a step, a broken layout is refused: it would break the emails of all workflows at once. */
export function refuseContent(email: Email, variables: JsonSchema): void {
  const issues = contentIssues(email, variables)
  if (issues.length > 0)
    throw fail('layout_invalid', undefined, { ctx: { controls: { 'email.body': issues.slice(0, mostIssues) } } })
}

export function contentIssues({ body, editorType }: Email, variables: JsonSchema): ControlIssue[] {
  const missing = (message: string): ControlIssue[] => [
    { issueType: 'MISSING_VALUE', variableName: 'email.body', message },
  ]
  if (body.trim() === '') return missing('Body is required')
  try {
    const document = readDocument(body)
    if (editorType === 'block' && document === undefined)
      return missing('The block editor needs a block document: JSON with the type "doc"')
    if (editorType === 'html' && document !== undefined)
      return missing('The HTML editor needs HTML, but this is a block document')
    const absent = document ? [] : documentTags.filter((tag) => !body.toLowerCase().includes(tag))
    if (absent.length > 0) return missing(`The HTML must be a whole document; it lacks ${absent.join(', ')}`)
    if (!(document ? hasContentBlock(document) : /\{\{\s*content\s*\}\}/.test(body)))
      return missing('The layout must show the content of the email: add the variable {{content}}')
  } catch (error) {
    if (error instanceof RenderError) return missing(error.message)
    throw error
  }
  return templateIssues(analyse(body), { variables, references: null, translator: undefined })
}

const documentTags = ['<html', '</html>', '<body', '</body>']

function hasContentBlock(document: BlockNode): boolean {
  const nodes: unknown[] = [document]
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    const { type, attrs, content } = (node ?? {}) as Partial<BlockNode>
    if (type === 'variable' && attrs?.id === 'content') return true
    if (Array.isArray(content)) for (const child of content) nodes.push(child)
  }
  return false
}
