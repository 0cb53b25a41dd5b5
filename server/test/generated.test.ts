// Generated files, committed so that reviews show the effect of a change. `npm run generate` refreshes them.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { pagesOf } from '../../bench/src/report/page.ts'
import { referencePage } from '../../cli/test/reference.ts'
import { settings } from '../src/config.ts'
import { errorTable } from '../src/errors.ts'
import { apiTypes } from './api-types.ts'
import { dumpSchema, tableColumns } from './schema-dump.ts'
import { useServer } from './server.ts'

const server = useServer()
const place = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))

describe('the database', () => {
  test('schema.sql is the result of all migrations', async () => {
    await expect(await dumpSchema(server.database.pool)).toMatchFileSnapshot(place('server/src/db/schema.sql'))
  })

  test('tables.ts names exactly the existing columns', async () => {
    expect(columnsInCode()).toEqual(await tableColumns(server.database.pool))
  })
})

test('openapi.json describes every route', async () => {
  const { body } = await server.api.get('/openapi.json')
  await expect(`${JSON.stringify(body, undefined, 2)}\n`).toMatchFileSnapshot(place('server/openapi.json'))
})

test("the dashboard's types match the API", async () => {
  const { body } = await server.api.get('/openapi.json')
  await expect(apiTypes(body)).toMatchFileSnapshot(place('dashboard/src/api/types.ts'))
})

test('docs/errors.md lists every error', async () => {
  const rows = Object.entries(errorTable).map(
    ([code, { status }]) => `| \`${code}\` | ${status} | ${sentenceOf(code)} |`,
  )
  const page = `# Errors

Every refusal has the same shape: \`statusCode\`, \`timestamp\`, \`path\`, \`message\`, \`code\`, and what else is known under
\`ctx\`; a 422 has \`errors\` by field, a 500 an \`errorId\` to look for in the log. Programs should go by \`code\`: sentences may
be improved. Words in braces stand for what the request contained.

[Calls from SQL](sql.md#what-can-go-wrong) fail at once with a SQLSTATE, or are refused after the commit with one of these codes,
\`unknown_format\` or \`too_old\`.

| code | status | message |
|---|---|---|
${rows.join('\n')}
`
  await expect(page).toMatchFileSnapshot(place('docs/errors.md'))
})

test('docs/cli.md lists every command and option of the tool', async () => {
  await expect(referencePage()).toMatchFileSnapshot(place('docs/cli.md'))
})

test('docs/operating.md has a row for each setting, and no others', () => {
  const rows = readFileSync(place('docs/operating.md'), 'utf8').match(/^\| `[A-Z_]+` \|.*$/gm)
  expect(rows).toEqual(settings.map(({ name, default: value, meaning }) => `| \`${name}\` | ${value} | ${meaning} |`))
})

test('docs/performance.md and its charts show bench/results', async () => {
  for (const [file, text] of pagesOf(place(''))) await expect(text).toMatchFileSnapshot(place(file))
})

describe('docs/activity.md', () => {
  const page = readFileSync(place('docs/activity.md'), 'utf8')
  const code = readFileSync(place('server/src/steps/contract/outcome.ts'), 'utf8')

  test('explains every reason, and no others', () => {
    const reasons = /type Reason =\n(.*?)\n\n/s.exec(code)?.[1]?.matchAll(/^ {2}\| '(\w+)'$/gm) ?? []
    const rows = /^## Reasons$(.*?)^## /ms.exec(page)?.[1]?.matchAll(/^\| `(\w+)` \|/gm) ?? []
    expect([...rows].map(([, reason]) => reason)).toEqual([...reasons].map(([, reason]) => reason))
  })

  test('has every line a log can contain, and no others', () => {
    const lines = code.matchAll(/^ {2}\w+: \[(['"])(.*)\1, '(\w+)'\],$/gm)
    const rows = /<summary>All texts<\/summary>(.*?)<\/details>/s.exec(page)?.[1]?.match(/^\| (?!detail).*$/gm)
    expect(rows).toEqual([...lines].map(([, , text = '', status]) => `| ${text.trim()} | ${status} |`))
  })
})

/** The names in tables.ts, read from its text, because types do not exist at run time. */
function columnsInCode(): Record<string, string[]> {
  const text = readFileSync(place('server/src/db/core/tables.ts'), 'utf8')
  const interfaces = new Map<string, Array<[name: string, type: string]>>()
  for (const [, name = '', base = '', body = ''] of text.matchAll(
    /interface (\w+)(?: extends (\w+))? \{\n(.*?)\n\}/gs,
  )) {
    const own = [...body.matchAll(/^ {2}'?([\w.]+)'?\??: (.*)$/gm)].map(
      ([, member = '', type = '']) => [member, type] as const,
    )
    interfaces.set(name, [
      ...(interfaces.get(base) ?? []),
      ...own.map(([member, type]): [string, string] => [member, type]),
    ])
  }
  const members = (name: string) => (interfaces.get(name) ?? []).map(([member]) => member).sort()
  return Object.fromEntries((interfaces.get('Tables') ?? []).map(([table, type]) => [table, members(type)]))
}

/** The message with its parameter names in braces. */
function sentenceOf(code: string): string {
  const message = errorTable[code as keyof typeof errorTable].message as (params: unknown) => string
  // Each parameter is a list of its own name, so that it reads the same in a sentence and joined.
  const stand = (name: string) => [`{${name}}`]
  const params = code === 'field_validation' ? fieldProblems : new Proxy({}, { get: (_, name) => stand(String(name)) })
  return String(message(params)).replaceAll('|', '\\|').replaceAll('\n', ' ')
}

const fieldProblems = { command: '{command}', fields: { '{field}': ['{problem}'] } }
