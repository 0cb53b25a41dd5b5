// Faults in what the API answers, resource by resource.
const session = { tests: ['server/src/http/inbox/session.test.ts'] }
const listing = { tests: ['server/src/http/inbox/notifications.test.ts'] }

export const http = {
  'server/src/http/subscribers/subscribers.ts': [
    {
      breaks: 'failIfExists overwrites the subscriber',
      from: 'const row = request.query.failIfExists\n',
      to: 'const row = !request.query.failIfExists && false\n',
    },
    {
      breaks: 'the list shows subscribers of all environments',
      from: 'sql`t.environment_id = ${environment.id}`,\n        ...(query.email',
      to: 'sql`${environment.id}::text IS NOT NULL`,\n        ...(query.email',
    },
    {
      breaks: 'an id with spaces around it is another subscriber',
      from: 'subscriberId: body.subscriberId.trim()',
      to: 'subscriberId: body.subscriberId',
    },
    {
      tests: ['server/src/http/subscribers/search.test.ts'],
      breaks: 'the list cannot be ordered by the last change',
      from: "query.orderBy === 'updatedAt' ? ('updated_at' as const) : undefined",
      to: 'undefined',
    },
    { breaks: 'deleting nobody succeeds', from: 'if (!existed)\n', to: 'if (existed === undefined)\n' },
  ],
  'server/src/http/triggers/events.ts': [
    {
      breaks: 'a trigger takes one recipient too many',
      from: 'given.length > mostRecipients',
      to: 'given.length > mostRecipients + 1',
    },
    {
      breaks: 'a large payload is taken',
      from: "if (bytes > mostPayloadBytes) throw fail('trigger_payload_too_large'",
      to: "if (bytes > mostPayloadBytes * 1024) throw fail('trigger_payload_too_large'",
    },
    {
      breaks: 'attachments count as payload',
      from: 'const { attachments: _, ...counted } = payload',
      to: 'const counted = payload',
    },
    {
      breaks: 'one wrong event fails the whole bulk',
      from: 'if (!(result.reason instanceof RequestError)) throw result.reason',
      to: 'if (result.reason instanceof RequestError) throw result.reason',
    },
    {
      breaks: 'recipients that cannot exist are triggered',
      from: 'const recipients = all.filter(isPossible)\n',
      to: 'const recipients = all\n',
    },
    {
      breaks: 'an empty transaction id is one',
      from: 'transactionId: given.transactionId || undefined',
      to: 'transactionId: given.transactionId',
    },
  ],
  'server/src/http/inbox/token.ts': [
    { ...session, breaks: 'a token lives for 15 hours', from: 'livesDays * 86_400', to: 'livesDays * 3_600' },
    {
      tests: ['server/src/http/inbox/trust.test.ts'],
      breaks: 'a session outlives the key that vouched for it',
      from: 'if (vouchedBy !== undefined && !keys.includes(vouchedBy)) return true\n',
      to: '',
    },
    {
      tests: ['server/test/inbox-access.test.ts'],
      breaks: 'a token never expires',
      from: 'if (!(expiresAt > now) ||',
      to: 'if (expiresAt.getTime() === 0 ||',
    },
    {
      tests: ['server/test/inbox-access.test.ts'],
      breaks: 'any token of ours opens an inbox',
      from: '!given || !audiences.includes(String(given.aud)) || given.iss !== this.#issuer',
      to: '!given || audiences.length === 0',
    },
  ],
  'server/src/http/inbox/limit.ts': [
    {
      breaks: 'a bucket fills a thousand times too slowly',
      from: '/ 1000) * perSecond)',
      to: '/ 1_000_000) * perSecond)',
    },
    { breaks: 'nothing is taken from a bucket', from: 'bucket.tokens -= 1', to: 'bucket.tokens -= 0' },
    { breaks: 'writes are limited like reads', from: "? 'read' : 'write'", to: "? 'read' : 'read'" },
  ],
  'server/src/http/inbox/session.ts': [
    {
      breaks: 'a page needs no proof of who its subscriber is',
      from: "if (requiresHash && vouchedBy === undefined) throw fail('subscriber_hash_invalid')",
      to: '',
    },
    {
      breaks: 'a page needs no proof of its context',
      from: "if (requiresHash && context !== undefined && !isContextVouchedFor) throw fail('context_hash_invalid')",
      to: '',
    },
    {
      breaks: 'an integration of another channel opens the inbox',
      from: "integrations.filter(({ channel }) => channel === 'in_app')",
      to: 'integrations',
    },
  ],
  'server/src/http/inbox/filter.ts': [
    {
      ...listing,
      breaks: 'one of the tag groups is enough',
      from: 'return groups.filter((group) => group.length > 0)',
      to: 'return groups.length > 1 ? [groups.flat()] : groups',
    },
    {
      ...listing,
      breaks: 'unread and archived may be asked for together',
      from: "if (read === false && archived === true) throw fail('unread_and_archived')",
      to: '',
    },
  ],
  'server/src/http/webhooks/endpoints.ts': [
    {
      breaks: 'an endpoint too many is taken',
      from: 'Number(count) >= mostEndpoints',
      to: 'Number(count) > mostEndpoints',
    },
    {
      breaks: 'the secret is stored in clear',
      from: 'secret: secrets.encrypt(secret),\n            created_at',
      to: 'secret,\n            created_at',
    },
  ],
  'server/src/http/organization/members.ts': [
    { breaks: 'the last owner can leave', from: 'if (Number(count) <= 1)', to: 'if (Number(count) <= 0)' },
    {
      breaks: 'members of other organizations are listed',
      from: "    .where('u.organization_id', '=', person.organizationId)\n",
      to: '',
    },
    {
      breaks: 'admins do what takes an owner',
      from: "if (row?.role !== 'owner') throw fail('owner_needed')",
      to: "if (row?.role === 'viewer') throw fail('owner_needed')",
    },
  ],
  'server/src/http/organization/invitations.ts': [
    {
      breaks: 'an admin invites owners',
      from: "if (role === 'owner' && person.role !== 'owner') throw fail('owner_needed')",
      to: '',
    },
    {
      breaks: 'the token of an invitation is stored in clear',
      from: 'hash: sha256(token),\n            email',
      to: 'hash: token,\n            email',
    },
  ],
  'server/src/http/integrations/integrations.ts': [
    {
      breaks: 'other processes do not hear of a changed integration',
      from: "      await announce(tx, 'integrations', environment.id)\n      return result",
      to: '      return result',
    },
    {
      breaks: 'a deleted integration leaves a gap in the ranks',
      from: '        await renumber(tx, environment.id, deleted.channel, now)\n',
      to: '',
    },
    {
      breaks: 'an integration can be deleted twice',
      from: "          .where('deleted_at', 'is', null)\n          .returning(['channel', 'is_primary'])",
      to: "          .returning(['channel', 'is_primary'])",
    },
  ],
  'server/src/http/workflows/newer-version.ts': [
    {
      breaks: 'a save overwrites a newer version',
      from: 'baseVersion !== row.version',
      to: 'baseVersion > row.version',
    },
  ],
}
