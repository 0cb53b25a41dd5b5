// Copies of the repository in which scripts/mutants.mjs plants its faults, and the process that runs tests in one of them.
import { fork, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** @typedef {import('../mutants.mjs').Fault} Fault */

/** Failed tests keep their databases; a new process begins with an empty PostgreSQL. */
const runsPerProcess = 25

/** All files of the repository, what is built of them, and links to the packages. */
export function copyRepository(/** @type {string} */ root, /** @type {string} */ folder) {
  const git = ['ls-files', '--cached', '--others', '--exclude-standard']
  const files = spawnSync('git', git, { cwd: root, encoding: 'utf8' }).stdout.split('\n').filter(Boolean)
  const built = ['server', 'inbox', 'dashboard'].map((name) => `${name}/dist`)
  for (const file of [...files, ...built])
    if (existsSync(path.join(root, file))) cpSync(path.join(root, file), path.join(folder, file), { recursive: true })
  for (const place of ['.', 'server', 'inbox', 'dashboard', 'bench', 'chaos']) {
    const modules = path.join(root, place, 'node_modules')
    if (existsSync(modules)) symlinkSync(modules, path.join(folder, place, 'node_modules'))
  }
}

export function plant(/** @type {string} */ folder, /** @type {Fault} */ { file, from, to }) {
  const place = path.join(folder, file)
  // Not a pattern for the replacement either: `$` means itself.
  writeFileSync(
    place,
    readFileSync(place, 'utf8').replace(from, () => to),
  )
}

export function restore(/** @type {string} */ root, /** @type {string} */ folder, /** @type {Fault} */ { file }) {
  cpSync(path.join(root, file), path.join(folder, file))
}

/** What the compiler says of these faults, of which no two are in one file. */
export function compile(/** @type {string} */ root, /** @type {string} */ folder, /** @type {Fault[]} */ faults) {
  if (!existsSync(folder)) copyRepository(root, folder)
  for (const fault of faults) plant(folder, fault)
  const tsc = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const unused = ['--noUnusedLocals', 'false', '--noUnusedParameters', 'false']
  const output = ['tsconfig.json', 'inbox', 'dashboard'].map((project) => {
    const args = [tsc, '-p', project, '--noEmit', '--pretty', 'false', ...unused]
    return spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' }).stdout
  })
  for (const fault of faults) restore(root, folder, fault)
  const complaints = output.join('\n').split('\n')
  return faults.flatMap((fault) => {
    const complaint = complaints.find((line) => line.startsWith(`${fault.file}(`))
    return complaint === undefined ? [] : [{ fault, complaint }]
  })
}

/** One copy and the process that runs its tests, with a PostgreSQL and compiled sources that last from fault to fault. */
export class Lane {
  /** @type {import('node:child_process').ChildProcess | undefined} */
  #process
  #runs = 0

  constructor(/** @type {string} */ root, /** @type {string} */ folder) {
    this.folder = path.join(folder, 'repository')
    this.temporary = path.join(folder, 'tmp')
    mkdirSync(this.temporary, { recursive: true })
    copyRepository(root, this.folder)
  }

  /**
   * @param {{ tests: string[], changed?: string, build: boolean, bail: boolean, seconds: number }} options
   * @returns {Promise<{ failed: string[], isLate: boolean }>} the tests that failed
   */
  async run({ tests, changed, build, bail, seconds }) {
    if (build) {
      const setup = path.join(this.folder, 'scripts', 'setup.mjs')
      const { status, stderr } = spawnSync(process.execPath, [setup, 'test'], { encoding: 'utf8' })
      if (status !== 0) throw new Error(stderr)
    }
    if (this.#runs++ % runsPerProcess === 0) await this.stop()
    this.#process ??= this.#start()
    const child = this.#process
    return new Promise((resolve, reject) => {
      const patience = setTimeout(() => {
        void this.#kill().then(() => resolve({ failed: [], isLate: true }))
      }, seconds * 1000)
      child.once('exit', () => {
        clearTimeout(patience)
        this.#process = undefined
        reject(new Error('the process that runs the tests ended'))
      })
      child.once('message', (/** @type {string[]} */ failed) => {
        clearTimeout(patience)
        child.removeAllListeners('exit')
        resolve({ failed, isLate: false })
      })
      child.send({ tests, changed, bail })
    })
  }

  async stop() {
    if (this.#process) await this.#kill()
    rmSync(this.temporary, { recursive: true, force: true })
    mkdirSync(this.temporary, { recursive: true })
  }

  #start() {
    const runner = fileURLToPath(new URL('runner.mjs', import.meta.url))
    const env = { ...process.env, TMPDIR: this.temporary }
    // In a group of its own, so that tests that hang can be ended with it.
    return fork(runner, [this.folder], {
      cwd: this.folder,
      env,
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
  }

  async #kill() {
    const child = this.#process
    this.#process = undefined
    if (!child?.pid) return
    child.removeAllListeners()
    const ended = new Promise((resolve) => child.once('exit', resolve))
    process.kill(-child.pid, 'SIGKILL')
    await ended
  }
}
