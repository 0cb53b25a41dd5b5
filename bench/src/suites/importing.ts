// Importing data: how long people with preferences and device tokens take beside `subscribers/bulk`, and how much triggers suffer
// meanwhile.
import { acceptedBeside } from '../harness/beside.ts'
import { type Service, startService } from '../harness/service.ts'
import { makeWorkflow } from '../harness/triggers.ts'
import type { Options, Outcome } from '../report/figures.ts'

const perPage = 500
const updatedAt = '2026-01-01T00:00:00.000Z'

export async function benchImporting({ quick }: Options): Promise<Outcome> {
  const [people, compared, seconds] = quick ? [5_000, 5_000, 2] : [200_000, 50_000, 20]
  const service = await startService()
  try {
    await makeWorkflow(service)
    const integration = { providerId: 'fcm', channel: 'push', identifier: 'phones', name: 'Phones', active: false }
    await service.send('POST', '/v1/integrations', integration)
    const bulkPerSecond = await bulk(service, compared)
    const wholeMs = await whole(service, people)
    const perSecond = (people * 3) / (wholeMs / 1000)
    const beside = await acceptedBesideImport(service, seconds)
    return {
      figures: [
        {
          ...{ id: 'import', unit: 's', ours: wholeMs / 1000, target: { oursAtMost: 300 } },
          name: `import of ${people.toLocaleString('en')} subscribers with preferences and one credential each`,
        },
        {
          ...{ id: 'import-items', unit: '/s', ours: perSecond, reference: bulkPerSecond, target: { atLeast: 0.7 } },
          ...{ name: 'items imported, of the three kinds', against: 'new subscribers by subscribers/bulk' },
        },
        {
          ...{ id: 'beside-import', unit: '/s', ours: beside.busy, reference: beside.alone, target: { atLeast: 0.8 } },
          ...{ name: 'triggers accepted during an import', against: 'beside none' },
        },
      ],
      notes: { people, perPage },
    }
  } finally {
    await service.stop()
  }
}

const pagesOf = (count: number) => Array.from({ length: Math.ceil(count / perPage) }, (_, page) => page)
const numbersOf = (page: number) => Array.from({ length: perPage }, (_, n) => page * perPage + n)

/** One request after the other, as an import is sent. @returns items a second */
async function bulk(service: Service, count: number): Promise<number> {
  const began = performance.now()
  for (const page of pagesOf(count)) {
    const subscribers = numbersOf(page).map((n) => ({ ...personOf(n), subscriberId: `bulk-${n}` }))
    await service.send('POST', '/v1/subscribers/bulk', { subscribers })
  }
  return count / ((performance.now() - began) / 1000)
}

const personOf = (n: number) => ({
  ...{ subscriberId: `moved-${n}`, firstName: 'Ada', lastName: `Number ${n}`, email: `moved-${n}@example.com` },
  data: { plan: 'pro', number: n },
})

interface Imported {
  imported: number
  failed: unknown[]
}

const kinds: Record<string, (n: number) => object> = {
  subscribers: (n) => ({ ...personOf(n), updatedAt }),
  preferences: (n) => ({ subscriberId: `moved-${n}`, channels: { email: n % 2 === 0 }, updatedAt }),
  credentials: (n) => ({ subscriberId: `moved-${n}`, providerId: 'fcm', deviceTokens: [`token-${n}`], updatedAt }),
}

async function whole(service: Service, people: number): Promise<number> {
  const began = performance.now()
  for (const [kind, itemOf] of Object.entries(kinds))
    for (const page of pagesOf(people)) {
      const body = {
        items: numbersOf(page).map(itemOf),
        progress: { importId: 'bench', source: 'bench', found: { [kind]: people }, offset: page * perPage },
      }
      const { imported, failed } = await service.send<Imported>('POST', `/v2/import/${kind}`, body)
      if (imported !== perPage || failed.length > 0) throw new Error(`an import took ${imported} of ${perPage} ${kind}`)
    }
  return performance.now() - began
}

function acceptedBesideImport(service: Service, seconds: number) {
  let page = 0
  return acceptedBeside(service, seconds, async () => {
    // Other people every time, so that everything is written.
    for (const [kind, itemOf] of Object.entries(kinds)) {
      const items = numbersOf(page).map((n) => ({ ...itemOf(n), subscriberId: `beside-${n}` }))
      await service.send('POST', `/v2/import/${kind}`, { items })
    }
    page += 1
  })
}
