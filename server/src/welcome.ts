// What a start prints: the address, the keys of the first start, and the next step.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Config } from './config.ts'
import { writeWhole } from './db/install/data-dir.ts'
import type { NewEnvironment } from './db/queries/environments.ts'
import { linkTo } from './db/queries/sign-in-links.ts'
import { reasonOf } from './errors.ts'
import { linkCommand } from './package-folder.ts'

interface Started {
  url: string
  /** The environments with their keys, on the first start only. */
  created: NewEnvironment[] | undefined
  setUpToken: string | undefined
  needsOwner: boolean
}

/** The next steps for the person who started it. Keys are shown once, by the start that created them. */
export function welcome({ url, created, setUpToken, needsOwner }: Started, config: Config): string {
  const own = config.port === 0 ? url : config.publicUrl
  // A worker serves no pages.
  const home = config.role === 'worker' && !config.isPublicUrlGiven ? 'http://<address of an API process>' : own
  const lines = ['', `  Belfry is ready at ${own}`]
  if (config.role !== 'worker') lines.push(`  See it work: ${home}/demo`, `  API reference: ${home}/docs`)
  if (setUpToken !== undefined)
    lines.push(
      '',
      '  Set up the dashboard, as its owner (the link works once, for a week):',
      `    ${linkTo(home, 'setup', setUpToken)}`,
    )
  else if (needsOwner) lines.push(`  Nobody has set up the dashboard yet: \`${linkCommand}\` prints a link for that.`)
  const development = created?.[0]
  if (created && development) {
    lines.push('', '  Your API keys (shown this once):')
    for (const { name, apiKey } of created) lines.push(`    ${name.padEnd(12)} ${apiKey}`)
    // The lines begin with another word than those of the keys: scripts find a key by its environment's name.
    lines.push('', '  Application identifiers for the browser inbox (not secret):')
    for (const { name, identifier } of created) lines.push(`    of ${name.padEnd(12)} ${identifier}`)
    if (config.role !== 'worker') lines.push('', ...firstNotification(url, development.apiKey))
  }
  return `${lines.join('\n')}\n\n`
}

/** A log is read by others, so keys and link go into a file that only the operator can read. */
export function welcomeForLog(started: Started, config: Config): string {
  if (started.created === undefined && started.setUpToken === undefined) return welcome(started, config)
  const plain = welcome({ url: started.url, created: undefined, setUpToken: undefined, needsOwner: false }, config)
  const lines = ['  Your API keys, the link to set up the dashboard and a first notification to send are in']
  try {
    // With a database elsewhere there is no data folder.
    const folder = config.databaseUrl === undefined ? config.dataDir : mkdtempSync(path.join(tmpdir(), 'belfry-'))
    const file = path.join(folder, 'first-start.txt')
    writeWhole(file, welcome(started, config))
    lines.push(`    ${file}`, '  Only you can read it. Delete it once you have stored the keys.')
  } catch (error) {
    lines.push(
      `  no file, because none could be written (${reasonOf(error as Error)}).`,
      `  \`${linkCommand}\` prints a new link, and its owner makes new keys in the dashboard.`,
    )
  }
  return `${plain}${lines.join('\n')}\n\n`
}

/** As in README.md: create a workflow, trigger it, look at the result. */
function firstNotification(url: string, apiKey: string): string[] {
  const authorization = quoted(`Authorization: ApiKey ${apiKey}`)
  const post = (path: string, body: string) => [
    `    curl '${url}${path}' \\`,
    `      -H ${authorization} \\`,
    "      -H 'Content-Type: application/json' \\",
    `      -d '${body}'`,
  ]
  return [
    '  Send your first notification, an in-app message and an email:',
    '',
    ...post('/v2/workflows?onConflict=update', firstWorkflow),
    '',
    ...post('/v1/events/trigger', firstTrigger),
    '',
    '  The email went to the sandbox, which needs no provider. See it there:',
    '',
    `    curl ${url}/v1/sandbox/messages -H ${authorization}`,
  ]
}

const firstWorkflow = `{
        "name": "Welcome", "workflowId": "welcome", "active": true,
        "steps": [
          {"name": "Inbox", "type": "in_app", "controlValues": {"body": "Hello {{subscriber.firstName}}"}},
          {"name": "Email", "type": "email", "controlValues": {
            "subject": "Hello {{subscriber.firstName}}", "editorType": "html", "body": "<p>It works.</p>"}}
        ]
      }`
const firstTrigger = `{
        "name": "welcome", "transactionId": "first",
        "to": {"subscriberId": "ada", "firstName": "Ada", "email": "ada@example.com"}
      }`

/** For a shell: BELFRY_API_KEY may hold any printable character. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
