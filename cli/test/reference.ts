// docs/cli.md, made from the commands themselves.
import type { Command } from 'commander'
import { makeProgram } from '../src/program.ts'

const shared = ['--dir', '--url', '--json', '--quiet', '--no-color']
const cell = (text: string) => text.replaceAll('|', '\\|')

export function referencePage(): string {
  const program = makeProgram('0.0.0', {})
  /** A command that has others stands for them. */
  const commands = program.commands.flatMap((command) => [
    ...command.commands,
    ...(command.commands.length > 0 ? [] : [command]),
  ])
  const nameOf = (command: Command) =>
    command.parent === program ? command.name() : `${command.parent?.name()} ${command.name()}`
  const rows = commands.map(
    (command) => `| \`${[nameOf(command), ...argumentsOf(command)].join(' ')}\` | ${cell(command.description())} |`,
  )
  const optionsOf = (command: Command) =>
    command.options
      .filter(({ long }) => !shared.includes(long ?? ''))
      .map(({ flags, description }) => `| \`${cell(flags)}\` | ${cell(description)} |`)
  const withOptions = commands.filter((command) => optionsOf(command).length > 0)
  return `# The command line tool

\`belfry\` keeps what an environment defines in [files](files.md) beside your code. It takes Node.js 20.19 or newer, and nothing else.

\`\`\`sh
npx @belfry/cli --help                 # from a registry that has the package
npx ./belfry-cli-<version>.tgz --help  # from the file that npm run pack writes
npm run --silent belfry -- --help      # in this repository
\`\`\`

## Commands

| command | what |
|---|---|
${rows.join('\n')}

## Options of all commands

| option | meaning |
|---|---|
${program.options.map(({ flags, description }) => `| \`${cell(flags)}\` | ${cell(description)} |`).join('\n')}

The service is \`--url\`, else \`BELFRY_URL\`, else the first environment in \`belfry.yaml\`. The key is \`BELFRY_API_KEY\`, else what \`login\`
keeps in your configuration folder, in a file that only you can read. It never stands on the command line, where others see it.
With a key of the organization, \`BELFRY_ENVIRONMENT\` is the id of the environment. A variable that is empty counts as not set.
\`HTTPS_PROXY\`, \`NO_PROXY\` and \`NODE_EXTRA_CA_CERTS\` hold.

${withOptions.map((command) => `## \`${nameOf(command)}\`\n\n| option | meaning |\n|---|---|\n${optionsOf(command).join('\n')}\n`).join('\n')}
## For scripts

With \`--json\` stdout has exactly one JSON value; everything else goes to stderr. \`tail --json\` writes one line per run.

| command | value |
|---|---|
| \`pull\` | \`{written, removed, unchanged, passedOver}\`, with paths |
| \`plan\` | the answer of [\`POST /v2/definitions/plan\`](files.md#look-before-you-push) |
| \`push\` | the answer of [\`POST /v2/definitions/push\`](files.md#push) |
| \`validate\` | \`{valid, files, problems: [{file, line, column, severity, code, message}]}\` |
| \`test\` | \`{passed, failed, results}\` |
| \`import …\` | \`{source, kinds: {subscribers: {found, imported, unchanged, failed}, …}, changed, unmapped}\` |
| a failure | \`{"error": {code, message, ctx}}\` |

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | a test failed, \`--exit-code\` and there are changes, or \`import --strict\` and something does not map |
| 2 | wrong usage, or errors in the files |
| 3 | a conflict: both sides changed |
| 4 | refused by the service |
| 5 | the service cannot be reached |
| 130 | interrupted |

Requests that may be repeated are tried up to five times. If nothing listens at the address, the tool gives up after ten seconds. A push
carries an idempotency key, so that a retry never pushes twice. Files are replaced by renaming, so an interruption leaves them whole.
`
}

const argumentsOf = (command: Command): string[] =>
  command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '…' : ''}`
    return argument.required ? `<${name}>` : `[${name}]`
  })
