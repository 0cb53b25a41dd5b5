// Faults in what is stored and read back.
export const db = {
  'server/src/db/core/secrets.ts': [
    {
      breaks: 'what an earlier key encrypted cannot be read',
      from: '[this.#current, ...others.map(derive)]',
      to: '[this.#current]',
    },
    {
      breaks: 'a signature of any length counts',
      from: 'one.length === other.length && timingSafeEqual(one, other)',
      to: 'one.length !== other.length || timingSafeEqual(one, other)',
    },
    {
      breaks: 'a token with a part too many counts',
      from: 'if (more.length > 0 || !isOurs) return undefined',
      to: 'if (!isOurs) return undefined',
    },
    {
      breaks: 'signatures do not depend on their salt',
      from: ".update(salt).update('\\0').update(text)",
      to: '.update(text)',
    },
  ],
  'server/src/db/core/page.ts': [
    {
      breaks: 'a page has one item too many',
      from: 'const data = rows.slice(0, limit)',
      to: 'const data = rows.slice(0, limit + 1)',
    },
    {
      breaks: 'the last page has a next one',
      from: 'const hasFar = rows.length > limit',
      to: 'const hasFar = rows.length >= limit',
    },
    {
      breaks: 'a cursor of another environment leads into this list',
      from: '= ${list.environmentId} AND t.id = ${id}`',
      to: '<> ${list.environmentId}::text || t.id AND t.id = ${id}`',
    },
    { breaks: 'a page before another comes in the wrong order', from: 'if (!forward) data.reverse()', to: '' },
    {
      breaks: 'a percent sign finds everything',
      from: "text.replaceAll(/[\\\\%_]/g, '\\\\$&')",
      to: 'text',
      tests: ['server/src/http/subscribers/search.test.ts', 'server/src/http/subscribers/subscribers.test.ts'],
    },
  ],
  'server/src/db/core/changes.ts': [
    {
      breaks: 'a lost connection is not made again',
      from: 'this.#retry = setTimeout(() => void this.#connect().catch(this.#onError), delayMs)',
      to: 'void delayMs',
    },
    {
      breaks: 'nobody hears that changes may have been missed',
      from: 'if (this.connected) for (const listener of this.#onLoss) listener()',
      to: '',
    },
  ],
  'server/src/db/core/transaction.ts': [
    {
      breaks: 'what follows a commit is done after a failure too',
      from: 'for (const next of otherwise ?? []) next()',
      to: 'for (const next of [...(afterwards ?? []), ...(otherwise ?? [])]) next()',
    },
  ],
}
