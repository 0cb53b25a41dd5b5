// Faults in who may do what: keys, sessions, roles, limits, and what is shown of secrets.
const signIn = { tests: ['server/src/http/organization/sign-in.test.ts'] }
const factors = { tests: ['server/src/http/organization/second-factor.test.ts'] }
const access = { tests: ['server/test/access.test.ts'] }

export const auth = {
  'server/src/http/edge/auth.ts': [
    {
      breaks: 'a replaced key goes on working in processes that remember it',
      from: "changes.on('api_keys', () => this.forget())",
      to: "changes.on('people', () => this.forget())",
    },
    {
      breaks: 'keys stay remembered when the connection that announces changes was lost',
      from: 'changes.onLoss(() => this.forget())',
      to: '',
    },
    {
      breaks: 'a look-up that began before a removal remembers the removed key',
      from: 'const [known, wrong] = [this.#known, this.#wrong]',
      to: 'const [known, wrong] = [{ set: (key: string, found: Known) => this.#known.set(key, found) }, this.#wrong]',
    },
    {
      tests: ['server/src/http/organization/environments.test.ts'],
      breaks: 'a key that has expired goes on working',
      from: 'expiresAt !== null && expiresAt <= now)',
      to: 'expiresAt !== null && expiresAt > now)',
    },
    {
      breaks: 'a key is remembered although nobody would hear of its removal',
      from: 'if (wouldHearOfChange) known.set(authorization, found)',
      to: 'known.set(authorization, found)',
    },
    {
      breaks: 'wrong keys are not counted against their address',
      from: 'await this.#guesses.count(request.ip, this.#clock.now())',
      to: '',
    },
    {
      breaks: 'any scheme is taken for an API key',
      from: '  if (!header.startsWith(`${scheme} `)) {',
      to: '  if (header === undefined) {',
    },
    {
      breaks: 'a key with spaces around it counts',
      from: 'const key = header.slice(scheme.length + 1)',
      to: 'const key = header.slice(scheme.length + 1).trim()',
    },
    {
      breaks: 'a wrong key that is sent again counts as another guess',
      from: "if (wrong.has(hash)) throw fail('api_key_not_found')",
      to: '',
    },
  ],
  'server/src/http/edge/people.ts': [
    {
      breaks: 'the origin check ignores the port',
      from: 'new URL(origin).host !== request.host',
      to: 'new URL(origin).hostname !== request.hostname',
    },
    {
      breaks: 'pages of neighboring hosts may act for a signed-in person',
      from: "site !== undefined && site !== 'same-origin' && site !== 'none'",
      to: "site !== undefined && site === 'cross-site'",
    },
    {
      breaks: 'a change needs no header that other sites cannot send',
      from: "if (changesSomething && named === undefined) throw fail('cross_site_request')",
      to: '',
    },
    {
      breaks: 'a session never ends by disuse',
      from: 'if (!session || session.expiresAt <= now) {',
      to: 'if (!session) {',
    },
    {
      breaks: 'a session in use lives on after 90 days',
      from: 'new Date(Math.min(now.getTime() + idleMs, createdAt.getTime() + longestMs))',
      to: 'new Date(now.getTime() + idleMs)',
    },
    {
      breaks: 'the use of a session is not written down',
      from: '>= seenEveryMs) await this.#see(session, now)',
      to: '>= seenEveryMs * 60 * 24 * 365) await this.#see(session, now)',
    },
    {
      breaks: 'a role is not checked for people',
      from: 'refuseLesserRole(request, session.person)',
      to: '',
    },
    {
      breaks: 'sessions ended elsewhere stay open here',
      from: "services.changes.on('people', () => this.forget())",
      to: '',
    },
  ],
  'server/src/http/edge/chosen-environment.ts': [
    {
      tests: ['server/src/http/edge/people.test.ts', 'server/test/access.test.ts'],
      breaks: 'a person or key enters an environment of another organization',
      from: "    .where('organization_id', '=', organizationId)\n",
      to: "    .where((where) => where.or([where('organization_id', '=', organizationId), where('id', '=', id)]))\n",
    },
  ],
  'server/src/http/edge/roles.ts': [
    {
      ...access,
      breaks: 'every role is enough',
      from: 'ranks.indexOf(role) >= ranks.indexOf(needed)',
      to: 'ranks.indexOf(role) >= 0 || needed === role',
    },
    {
      ...access,
      breaks: 'roles in single environments do not count',
      from: '!Object.hasOwn(set, environmentId)',
      to: 'true',
    },
    { ...access, breaks: 'viewers may change things', from: "'viewer' : 'editor')", to: "'viewer' : 'viewer')" },
    {
      tests: ['server/src/http/integrations/integrations.test.ts', 'server/test/access.test.ts'],
      breaks: 'editors see secrets',
      from: "person ? isAtLeast(roleIn(person, environment.id), 'admin') :",
      to: "person ? isAtLeast(roleIn(person, environment.id), 'editor') :",
    },
    {
      tests: ['server/src/http/organization/environments.test.ts', 'server/test/access.test.ts'],
      breaks: 'a key sees the keys of other environments',
      from: "return key?.may('administer') === true && environment.id === environmentId",
      to: "return key?.may('administer') === true",
    },
    {
      tests: ['server/src/http/organization/environments.test.ts', 'server/test/access.test.ts'],
      breaks: 'admins see clear API keys',
      from: "isAtLeast(person.role, 'owner')",
      to: "isAtLeast(person.role, 'admin')",
    },
  ],
  'server/src/http/edge/sign-in-limit.ts': [
    {
      ...signIn,
      breaks: 'a password may be guessed twenty times',
      from: 'const mostPerAccount = 10',
      to: 'const mostPerAccount = 20',
    },
    {
      ...signIn,
      breaks: 'the limit lasts 15 seconds',
      from: 'const windowMs = 15 * 60_000',
      to: 'const windowMs = 15 * 1_000',
    },
    {
      ...signIn,
      breaks: 'other spellings of an address are other accounts',
      from: "keyOf(kind, email?.toLowerCase() ?? '')",
      to: "keyOf(kind, email ?? '')",
    },
    {
      ...signIn,
      breaks: 'one attempt more than allowed',
      from: 'attempts > (limits.get(key) ?? 0)',
      to: 'attempts > (limits.get(key) ?? 0) + 1',
    },
    {
      ...signIn,
      breaks: 'a right password counts against its address',
      from: "set('attempts', '-', 1)",
      to: "set('attempts', '-', 0)",
    },
  ],
  'server/src/http/edge/caller-network.ts': [
    {
      tests: ['server/src/http/organization/sign-in.test.ts', 'server/src/http/edge/auth.test.ts'],
      breaks: 'every IPv6 address of a caller counts for itself',
      from: '.slice(0, 4)',
      to: '.slice(0, 8)',
    },
  ],
  'server/src/http/edge/idempotency.ts': [
    {
      breaks: 'an answer is replayed for 24 minutes only',
      from: 'const keptMs = 24 * 3_600_000',
      to: 'const keptMs = 24 * 60_000',
    },
    {
      breaks: 'a key with another body gets the first answer',
      from: 'if (first.body_hash !== bodyHash)',
      to: "if (first.body_hash === '')",
    },
    {
      breaks: 'a failure of ours is replayed',
      from: 'if (status >= 500) {',
      to: 'if (status > 599) {',
    },
    {
      breaks: 'a request that lost its lock overwrites the result of the next holder',
      from: ' AND holder = ${holder}`',
      to: '`',
    },
    {
      breaks: 'stored answers are not encrypted',
      from: 'body: this.#secrets.encrypt(body)',
      to: 'body',
    },
    {
      tests: ['server/src/http/edge/people.test.ts'],
      breaks: 'people share idempotency keys',
      from: 'const caller = person?.id ??',
      to: 'const caller =',
    },
  ],
  'server/src/http/edge/cookies.ts': [
    { ...signIn, breaks: 'scripts can read the session cookie', from: 'httpOnly: true', to: 'httpOnly: false' },
    {
      ...signIn,
      breaks: 'the cookie is sent by http too',
      from: 'secure: this.#isSecure(request)',
      to: 'secure: false',
    },
  ],
  'server/src/http/integrations/credentials.ts': [
    {
      tests: ['server/src/http/integrations/integrations.test.ts'],
      breaks: 'secret objects are shown to those who may not see secrets',
      from: "return typeof value === 'object' ? [] : [[name, mask]]",
      to: "return typeof value === 'object' ? [[name, value]] : [[name, mask]]",
    },
  ],
  'server/src/http/organization/variables.ts': [
    {
      breaks: 'secret variables are shown',
      from: 'value: row.is_secret ? mask : secrets.decrypt(value)',
      to: 'value: secrets.decrypt(value)',
    },
  ],
  'server/src/http/factors/authenticator-app.ts': [
    {
      ...factors,
      breaks: 'a code works again',
      from: "where('last_step', '<', String(step))",
      to: "where('last_step', '<=', String(step))",
    },
    {
      tests: ['server/src/http/factors/authenticator-app.test.ts'],
      breaks: 'codes of two steps ago are accepted',
      from: 'const toleratedSteps = 1',
      to: 'const toleratedSteps = 2',
    },
  ],
  'server/src/http/factors/passkeys.ts': [
    {
      ...factors,
      breaks: 'a challenge for one purpose serves another',
      from: "    .where('purpose', '=', purpose)\n",
      to: '',
    },
    {
      ...factors,
      breaks: 'a passkey signs in alone without a finger, face or PIN',
      from: 'requireUserVerification: userId === undefined',
      to: 'requireUserVerification: false',
    },
  ],
  'server/src/http/edge/proof.ts': [
    {
      tests: ['server/test/second-factor.test.ts'],
      breaks: 'a signed-in person is never asked again',
      from: '>= proofMs) throw',
      to: '>= proofMs * 1e6) throw',
    },
  ],
  'server/src/http/organization/second-step.ts': [
    {
      ...factors,
      breaks: 'a second step takes any number of wrong codes',
      from: 'const mostAttempts = 5',
      to: 'const mostAttempts = 5_000',
    },
  ],
}
