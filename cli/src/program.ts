// The commands, their arguments and options. docs/cli.md is made from this.
import { Command, InvalidArgumentError } from 'commander'
import { explain, tail, trigger } from './commands/activity.ts'
import { completion } from './commands/completion.ts'
import { diff, history, restore } from './commands/history.ts'
import { type ImportOptions, type ImportSource, importFrom } from './commands/import.ts'
import { outbox } from './commands/outbox.ts'
import { pull } from './commands/pull.ts'
import { plan, push, validate } from './commands/push.ts'
import { schema } from './commands/schema.ts'
import { init, login, logout, whoami } from './commands/setup.ts'
import { shadow } from './commands/shadow.ts'
import { test } from './commands/test.ts'
import { types } from './commands/types.ts'
import { Context, type GlobalOptions } from './context.ts'
import { courier } from './import/courier/source.ts'
import { csv } from './import/csv.ts'
import { type KnockOptions, knock } from './import/knock/source.ts'
import { type NovuOptions, novu } from './import/novu/source.ts'
import { oneSignal } from './import/onesignal.ts'
import { pinpoint } from './import/pinpoint.ts'

const several = (value: string, others: string[] = []) => [...others, value]

function count(least: number, most: number) {
  return (text: string): number => {
    const number = Number(text)
    if (!Number.isInteger(number) || number < least || number > most)
      throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`)
    return number
  }
}

/** As all other failures are written. */
export const plain = (message: string): string =>
  message.replace(/^error: (.)/, (_, first: string) => first.toUpperCase())

/** @param env the environment's variables, read once */
export function makeProgram(version: string, env: NodeJS.ProcessEnv): Command {
  const program = new Command('belfry')
    .description('Notifications as files: pull, review, test and push what an environment defines.')
    .version(version)
    .option('--dir <folder>', 'the folder', 'belfry')
    .option('--url <url>', 'the service; else BELFRY_URL, else belfry.yaml')
    .option('--json', 'one JSON value on stdout')
    .option('--quiet', 'no remarks')
    .option('--no-color', 'no colors; NO_COLOR does the same')
    .showHelpAfterError('(see "belfry --help")')
    .configureOutput({ outputError: (text, write) => write(plain(text)) })
  const context = () => new Context(program.opts<GlobalOptions>(), env)
  const command = (name: string, description: string) =>
    withGlobals(program.command(name).description(description), program)

  command('init', 'make the folder, with an example and its scenario')
    .option('--ci', 'also a workflow for GitHub Actions')
    .action((options: { ci?: boolean }) => init(context(), options))
  command('login', 'keep a key for this service; it is asked for, or read from BELFRY_API_KEY').action(() =>
    login(context()),
  )
  command('logout', 'forget the key').action(() => logout(context()))
  command('whoami', 'show the environment that the key opens').action(() => whoami(context()))
  command('pull', 'write what changed there and not here; remove what was deleted there')
    .argument('[ids...]', 'only these')
    .option('--force', 'where both sides changed, take theirs')
    .action((ids: string[], options: { force?: boolean }) => pull(context(), ids, options))
  command('plan', 'show what a push would change')
    .argument('[ids...]', 'only these')
    .option('--subscriber <id>', 'render messages for this subscriber; several times', several)
    .option('--triggers <count>', 'render messages of the last triggers', count(0, 100))
    .option('--html <file>', 'write a report with before and after, side by side')
    .option('--prune', 'as push with --prune')
    .option('--exit-code', 'end with 1 where there are changes')
    .action((ids: string[], options: Parameters<typeof plan>[2]) => plan(context(), ids, options))
  command('push', 'check the files, then make the environment define what they say: all of it, or nothing')
    .argument('[ids...]', 'only these')
    .option('--dry-run', 'write nothing')
    .option('--prune', 'delete what files once pushed, nobody changed since, and the files no longer have')
    .option('--force', 'overwrite whatever is there')
    .option('--message <text>', 'the name of the change in the history')
    .option('--strict', 'issues are errors')
    .option('--commit <hash>', 'instead of what Git says')
    .option('--repository <name>', 'instead of what Git says')
    .action((ids: string[], options: Parameters<typeof push>[2]) => push(context(), ids, options))
  command('validate', 'check the files without a service').action(() => validate(context()))
  command(
    'test',
    'play scenario files, each with its own workflow from the folder; workflows that it names beside it are as they are stored',
  )
    .argument('[paths...]', 'files or folders; by default scenarios/ in the folder')
    .option('--only <text>', 'those whose name has this text')
    .option('--junit <file>', 'write a report for CI')
    .option('--live', 'live through them, each in an environment whose clock is held')
    .action((paths: string[], options: Parameters<typeof test>[2]) => test(context(), paths, options))
  command('diff', 'show differences: two versions, or what is stored against the files')
    .argument('[id]', 'only this')
    .option('--from <version>', 'by default the one before')
    .option('--to <version>', 'by default the current one')
    .option('--layout', 'the id is that of a layout')
    .action((id: string | undefined, options: Parameters<typeof diff>[2]) => diff(context(), id, options))
  command('history', 'list the versions of a workflow')
    .argument('<id>', 'the workflowId')
    .option('--layout', 'the id is that of a layout')
    .option('--all', 'each save on its own')
    .option('--limit <count>', 'how many', count(1, 100))
    .action((id: string, options: Parameters<typeof history>[2]) => history(context(), id, options))
  command('restore', 'make an earlier version the current one')
    .argument('<id>', 'the workflowId')
    .argument('<version>', 'its number')
    .option('--layout', 'the id is that of a layout')
    .option('--message <text>', 'the name of the change in the history')
    .action((id: string, version: string, options: Parameters<typeof restore>[3]) =>
      restore(context(), id, version, options),
    )
  command('trigger', 'trigger a workflow, and show its runs')
    .argument('<id>', 'the workflowId')
    .option('--to <subscriberId>', 'a recipient; several times', several)
    .option('--payload <json>', 'the payload')
    .option('--transaction-id <id>', 'instead of a new one')
    .action((id: string, options: Parameters<typeof trigger>[2]) => trigger(context(), id, options))
  command('tail', 'print runs as they happen; with --json one line each')
    .option('--workflow <id>', 'only of this workflow')
    .option('--once', 'print the last 50 and end')
    .action((options: Parameters<typeof tail>[1]) => tail(context(), options))
  command('explain', 'tell whether a subscriber would get a workflow, and why')
    .argument('<id>', 'the workflowId')
    .argument('<subscriber>', 'the subscriberId')
    .option('--payload <json>', 'the payload')
    .action((id: string, subscriber: string, options: { payload?: string }) =>
      explain(context(), id, subscriber, options),
    )
  command('outbox', 'carry out what SQL functions called in a database of yours, and list what was refused')
    .argument('<action>', 'install, drain, refused or retry')
    .argument('[ids...]', 'with retry: only these')
    .option('--database <url>', 'the database; else BELFRY_OUTBOX_URL, else what is shared with the service')
    .option('--once', 'with drain: end when nothing is left')
    .action((action: string, ids: string[], options: Parameters<typeof outbox>[3]) =>
      outbox(context(), action, ids, options),
    )
  command('types', 'write TypeScript types of the payloads')
    .option('--out <file>', 'the file; by default stdout')
    .option('--remote', 'from the service instead of the files')
    .action((options: Parameters<typeof types>[1]) => types(context(), options))
  importers(
    command('import', 'bring everything along from another service; a dry run, unless --apply is said'),
    context,
    env,
  )
  command('shadow', 'compare an environment with the service behind it, and choose what it delivers itself')
    .argument('<action>', 'report, differences, live or back')
    .argument('[ids...]', 'with live and back: the workflows')
    .option('--since <time>', 'with report: only triggers from then on')
    .option('--kind <kind>', 'with differences: missing, extra, status, recipient, content or time')
    .option('--workflow <id>', 'with differences: only of this workflow')
    .option('--limit <count>', 'with differences: how many', count(1, 100))
    .action((action: string, ids: string[], options: Parameters<typeof shadow>[3]) =>
      shadow(context(), action, ids, options),
    )
  command('schema', 'print the JSON Schema of a kind')
    .argument('<kind>', 'workflow, layout, translation, topic, integration, variable or belfry')
    .action((kind: string) => schema(kind))
  command('completion', 'print completions for a shell')
    .argument('<shell>', 'bash, zsh or fish')
    .action((shell: string) => completion(context(), program, shell))
  return program
}

/** Global options may stand behind the command too. */
function withGlobals(command: Command, program: Command, dir = 'the folder'): Command {
  const parents = command.parent === program ? '' : `${command.parent?.name()} `
  return command
    .showHelpAfterError(`(see "belfry ${parents}${command.name()} --help")`)
    .option('--dir <folder>', dir)
    .option('--url <url>', 'the service')
    .option('--json', 'one JSON value on stdout')
    .option('--quiet', 'no remarks')
    .option('--no-color', 'no colors')
    .hook('preAction', (_, of) => {
      const own: Record<string, unknown> = of.opts()
      for (const option of ['dir', 'url', 'json', 'quiet', 'color'])
        if (of.getOptionValueSource(option) === 'cli') program.setOptionValueWithSource(option, own[option], 'cli')
    })
}

/** `import <from>`: each source is a command of its own. */
function importers(parent: Command, context: () => Context, env: NodeJS.ProcessEnv): void {
  const root = parent.parent as Command
  const source = (name: string, description: string) =>
    withGlobals(
      parent
        .command(name)
        .description(description)
        .option('--apply', 'write it; without, nothing is written but files in --dir')
        .option('--report <file>', 'write a report as Markdown')
        .option('--strict', 'end with 1 where something does not map')
        .option('--restart', 'begin anew instead of going on'),
      root,
      'write definitions as files there',
    )
  const run = (made: ImportSource, options: ImportOptions) =>
    importFrom(context(), made, { ...options, hasDir: root.getOptionValueSource('dir') === 'cli' })

  source('novu', 'from Novu: by its address with NOVU_SECRET_KEY, or files of mongoexport')
    .requiredOption('--from <url or folder>', 'the address of its API, or the folder')
    .option('--source-environment <id>', 'the one to read, where files of mongoexport have several')
    .action((options: ImportOptions & NovuOptions) => run(novu(options, env), options))
  source('knock', 'from Knock: the folder of its command line tool')
    .argument('<folder>', 'with workflows/, layouts/ and partials/')
    .option('--users <file>', 'users as JSON lines')
    .option('--preferences <file>', 'their preferences as JSON lines')
    .action((folder: string, options: ImportOptions & KnockOptions) => run(knock(folder, options), options))
  source('courier', 'from Courier: a folder of what its API answers')
    .argument('<folder>', 'with notifications/, brands/, profiles.jsonl and preferences.jsonl')
    .action((folder: string, options: ImportOptions) => run(courier(folder), options))
  source('onesignal', 'from OneSignal: its export of subscriptions')
    .argument('<file>', 'a CSV file, also .gz')
    .action((file: string, options: ImportOptions) => run(oneSignal(file), options))
  source('pinpoint', 'from Amazon Pinpoint: exports of endpoints, and templates')
    .argument('<files...>', 'JSON lines, also .gz, and template JSON')
    .action((files: string[], options: ImportOptions) => run(pinpoint(files), options))
  source('csv', 'from a CSV file of people')
    .argument('<file>', 'with names in its first line, also .gz')
    .requiredOption('--map <fields>', 'subscriberId=user_id,email=mail,data.plan=plan')
    .action((file: string, options: ImportOptions & { map: string }) => run(csv(file, options.map), options))
}
