// Runs a command, and says how it ended.
import { CommanderError } from 'commander'
import { Failure, failureOfPlace } from './failure.ts'
import { makeProgram, plain } from './program.ts'

/** Sets the exit code of the process. */
export async function run(version: string, args: string[], env: NodeJS.ProcessEnv): Promise<void> {
  const program = makeProgram(version, env).exitOverride()
  for (const command of program.commands.flatMap((each) => [each, ...each.commands])) command.exitOverride()
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    const isJson = program.opts<{ json?: boolean }>().json === true || args.includes('--json')
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : 2
      if (isJson && error.exitCode !== 0) {
        const isHelp = error.code === 'commander.help'
        const message = isHelp ? 'Say a command; "belfry --help" lists them' : plain(error.message)
        const told = { code: 'usage', message, ctx: null }
        process.stdout.write(`${JSON.stringify({ error: told })}\n`)
      }
      return
    }
    const failure = error instanceof Failure ? error : failureOfPlace(error)
    const code = failure?.code ?? 'internal'
    const message = failure?.message ?? (error instanceof Error ? error.message : String(error))
    if (isJson) process.stdout.write(`${JSON.stringify({ error: { code, message, ctx: failure?.ctx ?? null } })}\n`)
    process.stderr.write(`${failure ? message : error instanceof Error ? error.stack : message}\n`)
    for (const line of detailsOf(failure)) process.stderr.write(`  ${line}\n`)
    process.exitCode = failure?.exitCode ?? 1
  }
}

/** What the service said about single definitions. */
function detailsOf(failure: Failure | undefined): string[] {
  const { conflicts = [], problems = [] } = (failure?.ctx ?? {}) as {
    conflicts?: Array<{
      kind: string
      id: string
      why?: string
      current?: { author?: { name?: string } | null } | null
    }>
    problems?: Array<{ kind?: string; id?: string; path?: string; message: string }>
  }
  return [
    ...conflicts.flatMap(({ kind, id, why, current }) => {
      const by = current?.author?.name ? ` by ${current.author.name}` : ''
      return why === undefined ? [] : [`${kind} ${id}: ${why.replace('_', '-')}${by}`]
    }),
    ...problems.flatMap(({ kind, id, path, message }) =>
      kind === undefined ? [] : [`${kind} ${id} ${path}: ${message}`],
    ),
  ]
}
