// The promise of `npm start` to someone who has only Node: it starts, says what to do next, and survives any kind of stop.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, statSync, truncateSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import path from 'node:path'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { doCommand } from '../src/commands.ts'
import { isAlive } from '../src/db/install/processes.ts'
import { freePort } from './free-port.ts'
import { ask, databaseLog, databasePid, type Run, usePrograms } from './program.ts'

const programs = usePrograms()

async function startIn(dataDir: string, env: Record<string, string> = {}, by = programs): Promise<Run> {
  return by.start({ PORT: String(await freePort()), BELFRY_DATA_DIR: dataDir, ...env }).ready()
}

let guests = 0

/** Stores a new subscriber. @returns a check that a later start still has it */
async function storeGuest(run: Run, key: string): Promise<(later: Run) => Promise<void>> {
  guests += 1
  const guest = { subscriberId: `guest-${guests}`, firstName: `Guest ${guests}` }
  expect(await ask(`${run.url}/v2/subscribers`, key, guest)).toMatchObject({ status: 201 })
  return async (later) => {
    const found = await ask(`${later.url}/v2/subscribers/${guest.subscriberId}`, key)
    expect(found).toMatchObject({ status: 200, body: guest })
  }
}

/** Pastes the printed command into a shell. @returns the email in the sandbox */
async function sendFirst({ told }: Run): Promise<unknown> {
  const [makeWorkflow, trigger, look] = told.match(/curl .*?(?=\n\n)/gs) ?? []
  const paste = (command = 'false') =>
    JSON.parse(execFileSync('sh', ['-c', `${command} --silent`], { encoding: 'utf8' }))
  expect(paste(makeWorkflow)).toMatchObject({ workflowId: 'welcome', status: 'ACTIVE' })
  expect(paste(trigger)).toMatchObject({ status: 'processed', transactionId: 'first' })
  return vi.waitFor(
    () => {
      const [email] = paste(look).data
      expect(email).toBeDefined()
      return email
    },
    { timeout: 20_000 },
  )
}

const setUpTokenIn = (output: string) => /\/setup#(\S+)/.exec(output)?.[1] ?? ''
const portOf = ({ url }: Run) => new URL(url).port
const askOpenly = (run: Run, path: string, body: object) =>
  fetch(`${run.url}/v1/auth/${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Connection: 'close' },
    body: JSON.stringify(body),
  })
const lookUp = async (run: Run, token: string) => (await askOpenly(run, 'links/look-up', { token })).status

const forgetDatabaseLog = (dataDir: string) => truncateSync(path.join(dataDir, 'postgres.log'))
const hasEnded = (pid: number | undefined) => vi.waitUntil(() => !isAlive(pid ?? 0), { timeout: 20_000 })

vi.setConfig({ testTimeout: 120_000 })

// One installation goes through all of this, because making a database for each would take most of the time.
describe('one data folder', () => {
  const lasting = usePrograms({ until: 'after all' })
  let dataDir: string
  let first: Run
  let current: Run

  beforeAll(() => {
    dataDir = lasting.folder()
  })

  async function startAgain(): Promise<Run> {
    current = await startIn(dataDir, {}, lasting)
    return current
  }

  const command = (...args: string[]) =>
    lasting.command(['sign-in-link', ...args], { BELFRY_DATA_DIR: dataDir, PORT: portOf(current) }).ended
  const commandHere = (...args: string[]) => doCommand('sign-in-link', args, { BELFRY_DATA_DIR: dataDir })

  /** A running service, and a check that the next start has what it stored. */
  async function runWithGuest() {
    const run = current.hasEnded ? await startAgain() : current
    return { run, expectGuest: await storeGuest(run, first.keys[0] ?? '') }
  }

  test('can be stopped half-way through its first start, and keeps its keys for the next one if the port is taken', async () => {
    const interrupted = lasting.start({ PORT: String(await freePort()), BELFRY_DATA_DIR: dataDir })
    await interrupted.says('creating the database')
    expect(await interrupted.stop()).toMatchObject({ code: 0 })

    const squatter = createServer()
    await new Promise<void>((resolve) => squatter.listen(0, '127.0.0.1', resolve))
    const address = squatter.address()
    const PORT = String(typeof address === 'object' ? address?.port : '')
    const { code, output } = await lasting.start({ PORT, BELFRY_DATA_DIR: dataDir }).ended
    expect(code).toBe(1)
    expect(output).toContain(
      `Belfry cannot listen on port ${PORT} of 127.0.0.1; set PORT or HOST.\nReason: listen EADDRINUSE`,
    )
    expect(withoutLog(output)).not.toContain('    at ')
    expect(databasePid(dataDir)).toBeUndefined()
    expect(databaseLog(dataDir)).toContain('database system is shut down')

    await new Promise((resolve) => squatter.close(resolve))
    first = await startAgain()
    expect(first.keys).toHaveLength(2)
  })

  test('prints its address and the next steps at the first start, and they work when pasted', async () => {
    expect(first.output).toContain(`Belfry is ready at ${first.url}\n`)
    expect(first.output).toContain(`API reference: ${first.url}/docs\n`)
    expect(first.keys).toHaveLength(2)

    expect(await sendFirst(first)).toMatchObject({ to: ['ada@example.com'], subject: 'Hello Ada' })
    expect((await fetch(`${first.url}/docs`)).status).toBe(200)

    const [development = '', production = ''] = first.keys
    const ada = `${first.url}/v2/subscribers/ada`
    expect(await ask(ada, development)).toMatchObject({ status: 200, body: { firstName: 'Ada' } })
    expect(await ask(ada, production)).toMatchObject({ status: 404 })
  })

  test('hole 11: what is no terminal gets no secret, but the name of a file that only the operator can read', async () => {
    expect(first.file).toBe(path.join(dataDir, 'first-start.txt'))
    expect(statSync(first.file ?? '').mode & 0o777).toBe(0o600)
    expect(first.output).not.toMatch(/[0-9a-f]{32}|curl|setup#/)
    for (const key of first.keys) expect(first.output).not.toContain(key)
  })

  test('prints the application identifier of each environment, which opens the browser inbox', async () => {
    const identifiers = [...first.told.matchAll(/^ {4}of (\w+) +(\S+)$/gm)].map(([, name, id]) => [name, id])
    expect(first.told).toContain('\n  Application identifiers for the browser inbox (not secret):\n')
    expect(identifiers).toEqual([
      ['Development', expect.stringMatching(/^\S{12}$/)],
      ['Production', expect.stringMatching(/^\S{12}$/)],
    ])
    for (const [i, [, applicationIdentifier]] of identifiers.entries()) {
      const me = await ask(`${first.url}/v1/environments/me`, first.keys[i] ?? '')
      expect(me.body).toMatchObject({ identifier: applicationIdentifier })
    }
    // As .ci/run reads the key of Development, in the file.
    const lines = first.told.split('\n').filter((line) => /^ *Development +/.test(line))
    expect(lines.map((line) => line.replace(/^ *Development +/, ''))).toEqual([first.keys[0]])
  })

  test('is left in order by a stop, and a later start has the data and prints no secret', async () => {
    const { run, expectGuest } = await runWithGuest()
    const database = databasePid(dataDir) ?? 0
    // A browser's connection that is kept open does not hold it up.
    const idle = connect(Number(portOf(run)), '127.0.0.1')
    idle.write('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n')
    await new Promise((resolve) => idle.once('data', resolve))

    forgetDatabaseLog(dataDir)
    expect(await run.stop()).toMatchObject({ code: 0 })
    expect(isAlive(database)).toBe(false)
    expect(databaseLog(dataDir)).toContain('database system is shut down')
    expect(readdirSync(dataDir).filter((file) => file.endsWith('.lock'))).toEqual([])
    idle.destroy()

    const next = await startAgain()
    await expectGuest(next)
    expect(next.output).not.toMatch(/[0-9a-f]{32}|curl|API key/)
  })

  test('prints a link to become the owner, once; the operator can print another', async () => {
    const token = setUpTokenIn(first.told)
    // A later start has no secret to print, but says how to get one.
    const next = current
    expect(next).not.toBe(first)
    expect(await lookUp(next, token)).toBe(200)
    expect(next.output).toContain('Nobody has set up the dashboard yet: `npm run sign-in-link` prints a link for that.')
    const another = await command()
    expect(another).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/setup#\S{43}\n$/),
    })
    expect(await lookUp(next, token)).toBe(404)
    const owner = { name: 'Ada', email: 'ada@example.com', password: 'a difference engine' }
    const setUp = await askOpenly(next, 'set-up', { ...owner, token: setUpTokenIn(another.output) })
    expect(setUp.status).toBe(201)
    await expect(commandHere()).rejects.toThrow('needs a new password')

    // Also while nothing is running.
    await next.stop()
    await expect(commandHere('eve@example.com')).rejects.toThrow('no member')
    expect(databasePid(dataDir)).toBeUndefined()
    const reset = await command('ada@example.com')
    expect(reset).toMatchObject({ code: 0, output: expect.stringMatching(/\/reset#\S{43}\n$/) })
    expect(databasePid(dataDir)).toBeUndefined()

    const last = await startAgain()
    expect(last.output).not.toMatch(/sign-in-link|setup#/)
    const choice = { token: /#(\S+)/.exec(reset.output)?.[1], password: 'jacquard loom cards' }
    expect((await askOpenly(last, 'password-reset', choice)).status).toBe(200)
  })

  test('is used by one Belfry at a time', async () => {
    const { run, expectGuest } = await runWithGuest()
    const { code, output } = await lasting.start({ PORT: String(await freePort()), BELFRY_DATA_DIR: dataDir }).ended
    expect(code).toBe(1)
    expect(output).toContain(`Belfry is already running with the data in ${dataDir} (pid ${run.pid}).`)
    expect(withoutLog(output)).not.toContain('    at ')
    await expectGuest(run)
  })

  test('after a crash of Belfry: its database stops by itself and the next start has the data', async () => {
    const { run, expectGuest } = await runWithGuest()
    const database = databasePid(dataDir)
    forgetDatabaseLog(dataDir)
    run.signal('SIGKILL')
    await run.ended
    await hasEnded(database)
    expect(databaseLog(dataDir)).toContain('database system is shut down')
    await expectGuest(await startAgain())
  })

  test('after a crash of the database: Belfry restarts it and goes on, with the data', async () => {
    const { run, expectGuest } = await runWithGuest()
    process.kill(databasePid(dataDir) ?? 0, 'SIGKILL')
    await run.says('the database stopped unexpectedly; restarting it')
    const isReady = async () => (await fetch(`${run.url}/health/ready`)).status
    await expect.poll(isReady, { timeout: 60_000 }).toBe(200)
    await expectGuest(run)
  })

  test('stays intact when stopped twice in a row, from a terminal and from npm', async () => {
    const { run } = await runWithGuest()
    run.signal('SIGINT')
    run.signal('SIGINT')
    expect(await run.ended).toMatchObject({ code: 0 })
    expect(databasePid(dataDir)).toBeUndefined()
  })
})

/** The messages for the operator; a busy machine may add log lines. */
const withoutLog = (output: string) =>
  output
    .split('\n')
    .filter((line) => !line.startsWith('{'))
    .join('\n')

describe('the first start', () => {
  test('is required before anybody can sign in', async () => {
    const command = doCommand('sign-in-link', [], { BELFRY_DATA_DIR: programs.folder() })
    await expect(command).rejects.toThrow('start Belfry once')
  })

  test('takes the folder from a rival that starts at once, and uses the keys it is given', async () => {
    const key = "it's-a-key-of-our-own"
    const production = 'the-key-of-production'
    const keys = { BELFRY_API_KEY: key, BELFRY_PRODUCTION_API_KEY: production }
    const env = { BELFRY_DATA_DIR: programs.folder(), ...keys }
    const rivals = [
      programs.start({ ...env, PORT: String(await freePort()) }),
      programs.start({ ...env, PORT: String(await freePort()) }),
    ]
    const loser = await Promise.race(rivals.map(async (run) => ({ run, ...(await run.ended) })))
    expect(loser).toMatchObject({ code: 1, output: expect.stringContaining('already running') })
    const winner = rivals.find((run) => run !== loser.run) as Run
    await winner.ready()
    expect(winner.keys).toEqual([key, production])
    expect(await ask(`${winner.url}/v2/workflows`, production)).toMatchObject({ status: 200 })
    await sendFirst(winner)
    const found = await ask(`${winner.url}/v2/subscribers/ada`, key)
    expect(found).toMatchObject({ status: 200, body: { firstName: 'Ada' } })
  })
})

test('all wrong settings are reported at once', async () => {
  const dataDir = path.join(programs.folder(), 'data')
  const { code, output } = await programs.start({
    PORT: 'http',
    BELFRY_DATA_DIR: dataDir,
    BELFRY_ROLE: 'queen',
    BELFRY_SECRET_KEY: 'short',
  }).ended
  expect(code).toBe(1)
  expect(output).toBe(`
Belfry cannot start with these settings:
  - PORT must be a number from 0 to 65535; it is "http".
  - BELFRY_SECRET_KEY must be 64 hex digits (try: openssl rand -hex 32).
  - BELFRY_ROLE must be one of all, api, worker; it is "queen".
`)
  expect(existsSync(dataDir)).toBe(false)
})
