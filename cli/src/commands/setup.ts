// `init`, `login`, `logout` and `whoami`.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { ask } from '../ask.ts'
import type { Context } from '../context.ts'
import { Failure } from '../failure.ts'
import { writeWhole } from '../folder/write.ts'
import { Service } from '../service.ts'
import { writeSchemas } from './schema.ts'

const example = `# yaml-language-server: $schema=../../.schemas/workflow.json
workflowId: welcome
name: Welcome
active: true
validatePayload: true
payloadSchema:
  type: object
  properties:
    product:
      type: string
  required:
    - product
steps:
  - stepId: inbox
    name: Inbox
    type: in_app
    controlValues:
      subject: Welcome
      body: Good to have you on {{payload.product}}, {{subscriber.firstName}}.
`
const scenario = `name: Whoever signs up is welcomed
workflow: { workflowId: welcome }
startAt: 2026-01-05T09:00:00Z
subscribers: [{ subscriberId: ada, firstName: Ada }]
inputs:
  - { at: +0s, type: trigger, to: ada, payload: { product: Acme } }
expect:
  - messages: [{ channel: in_app, subscriberId: ada, text: "Good to have you on Acme, Ada." }]
`
const ci = (dir: string) => `name: Notifications
on:
  push:
    branches: [main]
  pull_request:
jobs:
  notifications:
    runs-on: ubuntu-latest
    env:
      BELFRY_URL: \${{ vars.BELFRY_URL }}
      BELFRY_API_KEY: \${{ secrets.BELFRY_API_KEY }}
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with:
          node-version: 22
      - run: npx @belfry/cli validate --dir ${dir}
      - run: npx @belfry/cli test --dir ${dir}
      - run: npx @belfry/cli plan --dir ${dir}
        if: github.event_name == 'pull_request'
      - run: npx @belfry/cli push --dir ${dir} --strict
        if: github.event_name == 'push'
`

/** Leaves alone what is there. */
export function init(context: Context, { ci: withCi = false }: { ci?: boolean }): void {
  const { dir, terminal, env } = context
  const beside = path.dirname(path.resolve(dir))
  const url = env.BELFRY_URL || 'http://127.0.0.1:3000'
  const written: string[] = []
  const write = (place: string, text: string) => {
    if (existsSync(place)) return
    writeWhole(place, text)
    written.push(path.relative(process.cwd(), place) || place)
  }
  const isNew = !existsSync(path.join(dir, 'workflows'))
  write(
    path.join(dir, 'belfry.yaml'),
    `# yaml-language-server: $schema=.schemas/belfry.json
format: 1
kinds: [workflows, layouts, translations]
environments:
  - { name: Development, url: "${url}" }
`,
  )
  // Bodies are stored byte for byte.
  write(path.join(dir, '.gitattributes'), '*.html -text\n*.block.json -text\n*.liquid -text\n')
  if (isNew) {
    write(path.join(dir, 'workflows', 'welcome', 'workflow.yaml'), example)
    write(path.join(dir, 'scenarios', 'welcome.scenario.yaml'), scenario)
  }
  writeSchemas(dir)
  if (ignore(path.join(beside, '.gitignore'))) written.push('.gitignore')
  if (withCi) write(path.join(beside, '.github', 'workflows', 'notifications.yaml'), ci(path.basename(dir)))
  terminal.result({ written }, () =>
    [...written.map((file) => `written ${file}`), 'Next: belfry validate, belfry push'].join('\n'),
  )
}

/** Adds one line. @returns whether it was missing */
function ignore(file: string): boolean {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  if (text.split(/\r?\n/).some((line) => /^\/?\.belfry\/?$/.test(line.trim()))) return false
  writeWhole(file, `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}.belfry/\n`)
  return true
}

/** The key comes from the terminal or a pipe, never from the command line, which others can see. */
export async function login(context: Context): Promise<void> {
  const url = context.url()
  const key = context.env.BELFRY_API_KEY || (await readKey(`API key for ${url}: `))
  if (!key) throw new Failure('usage', 'no_key', 'No key was given')
  const environment = await new Service({ url, key }).get<{ name: string }>('/v1/environments/me')
  const file = context.keepKeys(new Map([...context.keys(), [url, key]]))
  context.terminal.result(
    { url, environment: environment.name, file },
    () => `Logged in to ${environment.name} at ${url}; the key is in ${file}`,
  )
}

/** Only a person is asked. What is piped may lack the end of its line, or be nothing at all. */
async function readKey(question: string): Promise<string> {
  const { stdin } = process
  if (stdin.isTTY) return (await ask(question)) ?? ''
  const lines = createInterface({ input: stdin })
  try {
    for await (const line of lines) return line.trim()
    return ''
  } finally {
    lines.close()
  }
}

export function logout(context: Context): void {
  const url = context.url()
  const keys = context.keys()
  const wasKnown = keys.delete(url)
  if (wasKnown) context.keepKeys(keys)
  context.terminal.result({ url, loggedOut: wasKnown }, () =>
    wasKnown ? `Logged out of ${url}` : `No key was kept for ${url}`,
  )
}

export async function whoami(context: Context): Promise<void> {
  const service = context.service()
  const { name, identifier } = await service.get<{ name: string; identifier: string }>('/v1/environments/me')
  context.terminal.result({ url: service.url, environment: { name, identifier } }, () => `${name} at ${service.url}`)
}
