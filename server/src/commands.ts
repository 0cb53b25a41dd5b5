// What an operator does beside the running service: `node main.ts <command>` does it and ends.
import { realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import { type Config, readConfig } from './config.ts'
import { openDatabase } from './db/core/database.ts'
import { makeBackup } from './db/install/backup.ts'
import { claimDataDir } from './db/install/data-dir.ts'
import { findingsOf } from './db/install/doctor.ts'
import { restoreBackup } from './db/install/restore.ts'
import { restoreInto } from './db/install/restore-into.ts'
import { signInLink } from './db/queries/sign-in-links.ts'
import { StartError } from './errors.ts'
import { findRunningDatabase, say } from './found-database.ts'
import { linkCommand, named } from './package-folder.ts'
import { Parts } from './parts.ts'

const commands: Record<string, (config: Config, parts: Parts, args: string[], warnings: string[]) => Promise<string>> =
  {
    /** For an operator who cannot sign in: a link that creates the owner, or lets a member choose a new password. */
    async 'sign-in-link'(config, parts, args) {
      const [email] = args.filter(isNoFlag)
      const removesFactors = args.includes('--remove-second-factor')
      const { databaseUrl } = await findRunningDatabase(config, parts)
      const database = openDatabase(databaseUrl, { connections: 1, onError: () => undefined })
      parts.add(() => database.close())
      const given = { email, publicUrl: config.publicUrl, now: new Date(), removesFactors }
      const commandForMember = named('sign-in-link', 'ada@example.com')
      return signInLink(database.db, { ...given, command: linkCommand, commandForMember })
    },

    /** Says what is wrong with an installation, and changes nothing. */
    async doctor(config, parts, _args, warnings) {
      const { databaseUrl, secretKey } = await findRunningDatabase(config, parts)
      const { pool, close } = openDatabase(databaseUrl, { connections: 1, onError: () => undefined })
      parts.add(close)
      const dataDir = config.databaseUrl === undefined ? config.dataDir : undefined
      const findings = [
        ...warnings.map((text) => ({ isFine: false, text })),
        ...(await findingsOf({ pool, secretKey, otherSecretKeys: config.otherSecretKeys, dataDir })),
      ]
      if (findings.some(({ isFine }) => !isFine)) process.exitCode = 1
      return findings.map(({ isFine, text }) => `${isFine ? 'ok' : 'NOT OK'}  ${text}`).join('\n')
    },

    async backup(config, parts, args) {
      const now = new Date()
      const [name = `belfry-${now.toISOString().slice(0, 19).replaceAll(':', '')}Z.backup`] = args.filter(isNoFlag)
      const file = path.resolve(name)
      const { databaseUrl, secretKey } = await findRunningDatabase(config, parts)
      const { pool, close } = openDatabase(databaseUrl, { connections: 2, onError: () => undefined })
      parts.add(close)
      const withKey = config.secretKey === undefined && args.includes('--with-key')
      const place = config.secretKey === undefined ? path.join(config.dataDir, 'secrets.json') : 'BELFRY_SECRET_KEY'
      const { tables, rows } = await makeBackup({ pool, file, secretKey, withKey, now, say })
      const { size } = statSync(file)
      return `${file}: ${tables} tables, ${rows} rows, ${Math.ceil(size / 1000)} kB. ${
        withKey
          ? 'It contains the secret key that decrypts its credentials: keep it safe.'
          : `It does not contain the secret key, without which its credentials cannot be read: keep ${place} elsewhere.`
      }`
    },

    async restore(config, parts, args) {
      const [name] = args.filter(isNoFlag)
      if (name === undefined) throw new StartError(`Name the backup file: ${named('restore', '<file>')}`)
      const { dataDir, secretKey, databaseUrl, sessionDatabaseUrl } = config
      if (databaseUrl !== undefined) {
        const place = { file: path.resolve(name), databaseUrl: sessionDatabaseUrl ?? databaseUrl }
        const { createdAt, tables, rows, renewed } = await restoreInto({ ...place, secretKey: secretKey ?? '', say })
        const secrets = renewed === 1 ? '1 secret was' : `${renewed} secrets were`
        const anew = renewed === 0 ? '' : ` ${secrets} encrypted anew with BELFRY_SECRET_KEY.`
        return `Restored the database to the state of ${createdAt}: ${tables} tables, ${rows} rows.${anew}`
      }
      const claim = await claimDataDir(dataDir)
      parts.add(() => claim.release())
      const options = { file: path.resolve(name), dataDir: realpathSync(dataDir), secretKey, now: new Date(), say }
      const done = await restoreBackup({ ...options, force: args.includes('--force') })
      const kept = done.movedTo === undefined ? '' : ` The previous data is in ${done.movedTo}.`
      return `Restored ${dataDir} to its state of ${done.createdAt}: ${done.tables} tables, ${done.rows} rows.${kept}`
    },
  }

const isNoFlag = (arg: string) => !arg.startsWith('-')

/** What each command takes. */
const usages: Record<string, { args: string; flags: string[] }> = {
  'sign-in-link': { args: '[address]', flags: ['--remove-second-factor'] },
  doctor: { args: '', flags: [] },
  backup: { args: '[file]', flags: ['--with-key'] },
  restore: { args: '<file>', flags: ['--force'] },
}
const usageOf = (command: string): string => {
  const { args, flags } = usages[command] ?? { args: '', flags: [] }
  return [`Usage: ${named(command)}`, args, ...flags.map((flag) => `[${flag}]`)].filter(Boolean).join(' ')
}

/** @returns what to tell the operator */
export async function doCommand(command: string, args: string[], env: NodeJS.ProcessEnv): Promise<string> {
  const parts = new Parts()
  try {
    if (['--help', '-h', 'help'].includes(command))
      return ['Without a command it is the service.', ...Object.keys(commands).map(usageOf)].join('\n')
    const work = commands[command]
    if (!work) throw new StartError(`There is no command ${command}; use one of ${Object.keys(commands).join(', ')}.`)
    if (args.includes('--help') || args.includes('-h')) return usageOf(command)
    // A misspelled one would be lost in silence.
    const unknown = args.find((arg) => !isNoFlag(arg) && !usages[command]?.flags.includes(arg))
    if (unknown !== undefined) throw new StartError(`There is no option ${unknown}. ${usageOf(command)}`)
    const { config, warnings } = readConfig(env)
    return await work(config, parts, args, warnings)
  } finally {
    await parts.end()
  }
}
