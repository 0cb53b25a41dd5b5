// An application that writes a ledger and calls `belfry.trigger` in the same transactions, at random, until it is killed:
// node outbox-client.mjs <url> <name>
import pg from 'pg'

const [, , url = '', name = ''] = process.argv
const chance = (/** @type {number} */ part) => Math.random() < part
let number = 0
function nextKey() {
  number += 1
  return `${name}-${process.pid}-${number}`
}

/** Writes one line of the ledger, with the call in the same statement or beside it. */
async function write(/** @type {pg.Client} */ client) {
  const key = nextKey()
  const options = chance(0.5) ? { transactionId: key } : {}
  const call = "belfry.trigger('ledger', to_jsonb($1::text), jsonb_build_object('key', $1::text), $2)"
  if (chance(0.5)) await client.query(`INSERT INTO ledger (key, transaction_id) SELECT $1, ${call}`, [key, options])
  else {
    await client.query('INSERT INTO ledger (key) VALUES ($1)', [key])
    await client.query(`SELECT ${call}`, [key, options])
  }
  // The same again counts once.
  if ('transactionId' in options && chance(0.2)) await client.query(`SELECT ${call}`, [key, options])
}

async function once(/** @type {pg.Client} */ client) {
  const isPrepared = chance(0.15)
  await client.query(isPrepared ? 'BEGIN; SET LOCAL belfry.notify = off' : 'BEGIN')
  for (let calls = 1 + Math.floor(Math.random() * 3); calls > 0; calls -= 1) {
    if (chance(0.3)) {
      await client.query('SAVEPOINT part')
      await write(client)
      await client.query(chance(0.5) ? 'ROLLBACK TO SAVEPOINT part' : 'RELEASE SAVEPOINT part')
    } else await write(client)
  }
  if (isPrepared) {
    const id = nextKey()
    await client.query(`PREPARE TRANSACTION '${id}'`)
    if (chance(0.8)) await client.query(`${chance(0.6) ? 'COMMIT' : 'ROLLBACK'} PREPARED '${id}'`)
  } else await client.query(chance(0.75) ? 'COMMIT' : 'ROLLBACK')
}

for (;;) {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  try {
    await client.connect()
    for (;;) await once(client)
  } catch {
    // The database is away, or there are too many prepared transactions: again, with a new connection.
    await client.end().catch(() => undefined)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
