// Any CSV file of people, with a map from our fields to its columns.
import path from 'node:path'
import type { ImportSource } from '../commands/import.ts'
import { Failure } from '../failure.ts'
import { isoOf } from './people.ts'
import { mustBeFile } from './source-file.ts'
import { rowsOf } from './tables.ts'

const fields = [
  'subscriberId',
  'firstName',
  'lastName',
  'email',
  'phone',
  'avatar',
  'locale',
  'timezone',
  'createdAt',
  'updatedAt',
]

/** `subscriberId=user_id,email=mail,data.plan=plan` */
export function readMap(text: string): Map<string, string> {
  const map = new Map<string, string>()
  for (const pair of text.split(',')) {
    const at = pair.indexOf('=')
    const [field, column] = [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]
    if (at < 1 || column === '') throw new Failure('usage', 'bad_map', `"${pair}" in --map is not field=column`)
    if (!fields.includes(field) && !/^data\.[^.]+$/.test(field))
      throw new Failure(
        'usage',
        'bad_map',
        `There is no field "${field}"; there are ${fields.join(', ')} and data.<name>`,
      )
    map.set(field, column)
  }
  if (!map.has('subscriberId'))
    throw new Failure('usage', 'bad_map', '--map has to say which column is the subscriberId')
  return map
}

export function csv(file: string, mapText: string): ImportSource {
  mustBeFile(file)
  const map = readMap(mapText)
  return {
    name: 'csv',
    identity: [path.resolve(file), mapText],
    files: [file],
    async read(intake) {
      const { report } = intake
      const used = new Set(map.values())
      for await (const { cells, place } of rowsOf(file, { report, needed: used })) {
        const item: Record<string, unknown> = {}
        const data: Record<string, unknown> = {}
        for (const [field, column] of map) {
          const value = cells[column]
          if (value === undefined || value === '') continue
          if (field.startsWith('data.')) data[field.slice(5)] = value
          else item[field] = field.endsWith('At') ? (isoOf(value) ?? value) : value
        }
        for (const column of Object.keys(cells))
          if (!used.has(column) && cells[column] !== '')
            report.unmapped({
              ...{ kind: 'subscribers', id: String(item.subscriberId ?? ''), path: column, code: 'no_map' },
              why: '--map does not say what the column is',
            })
        if (item.subscriberId === undefined)
          report.unmapped({
            ...{ kind: 'subscribers', id: `row ${place}`, path: '', code: 'no_id' },
            why: `the row has no subscriberId, which is the column "${map.get('subscriberId')}"`,
          })
        else intake.add('subscribers', { ...item, ...(Object.keys(data).length > 0 ? { data } : {}) })
      }
    },
  }
}
