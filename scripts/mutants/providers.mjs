// Faults in how other services are called and how their answers are read.
export const providers = {
  'server/src/providers/http-client.ts': [
    {
      breaks: 'credentials follow a redirect to another port',
      from: 'return from.origin === to.origin ||',
      to: 'return from.hostname === to.hostname ||',
    },
    {
      breaks: 'an address in a URL is not checked',
      from: 'if (isIP(address) !== 0 && !isAllowed(address))',
      to: 'if (isIP(address) === 0 && !isAllowed(address))',
    },
    {
      breaks: 'one redirect too many is followed',
      from: 'if (redirects === mostRedirects)',
      to: 'if (redirects > mostRedirects)',
    },
    {
      breaks: 'a redirected POST stays one',
      from: "method: isRead || status === 307 || status === 308 ? method : 'GET'",
      to: 'method',
    },
    {
      breaks: 'an answer of any size is read',
      from: 'if (bytes > mostBytes) giveUp',
      to: 'if (bytes > mostBytes * 1024) giveUp',
    },
    {
      breaks: 'any answer is a success',
      from: 'if (status >= 200 && status < 300) return answer',
      to: 'if (status >= 200) return answer',
    },
    {
      breaks: 'a refused certificate is accepted',
      from: 'rejectUnauthorized: !options.acceptAnyCertificate',
      to: 'rejectUnauthorized: options.acceptAnyCertificate',
    },
    {
      breaks: 'connections of one set of permissions serve another',
      from: 'return `${allowPrivateAddresses ?? this.#options.allowPrivateAddresses} ${acceptAnyCertificate}`',
      to: 'return `${acceptAnyCertificate}`',
    },
    {
      breaks: 'a request has no deadline',
      from: "new DeliveryError('timeout', { host })), deadline - performance.now())",
      to: "new DeliveryError('timeout', { host })), 2 ** 30)",
    },
  ],
  'server/src/providers/public-address.ts': [
    { breaks: 'this machine may be called', from: "  '127.0.0.0/8',\n", to: '' },
    { breaks: 'the metadata service may be called', from: "  '169.254.0.0/16',\n", to: '' },
    {
      breaks: 'a mapped address hides a private one',
      from: 'if (embedded !== undefined) return isPublicAddress(embedded)',
      to: 'if (embedded !== undefined) return true',
    },
    {
      breaks: 'one public address of a name is enough',
      from: '!addresses.every(({ address }) => isAllowed(address))',
      to: '!addresses.some(({ address }) => isAllowed(address))',
    },
  ],
  'server/src/providers/delivery-error.ts': [
    {
      breaks: 'a limit on requests is final',
      from: "rate_limited: { kind: 'later'",
      to: "rate_limited: { kind: 'failover'",
    },
    {
      breaks: 'a lost connection never delivered',
      from: "    kind: 'later',\n    sentence: 'the connection was lost before the answer was complete',\n    mayHaveArrived: true,",
      to: "    kind: 'later',\n    sentence: 'the connection was lost before the answer was complete',",
    },
    {
      breaks: 'a date in Retry-After is ignored',
      from: 'return Number.isNaN(at) ? undefined :',
      to: 'return !Number.isNaN(at) ? undefined :',
    },
    { breaks: '501 is tried again', from: 'status >= 500 && status !== 501 && status !== 505', to: 'status >= 500' },
  ],
  'server/src/providers/kept.ts': [
    {
      tests: ['server/src/providers/delivery.test.ts'],
      breaks: 'a connection made with old credentials is used on',
      from: 'known?.fingerprint === fingerprint\n',
      to: 'known !== undefined\n',
    },
    {
      tests: ['server/src/providers/delivery.test.ts'],
      breaks: 'an access token is used after it has expired',
      from: 'known && known.until > this.#clock.now().getTime()',
      to: 'known',
    },
  ],
  'server/src/providers/masking.ts': [
    {
      tests: ['server/src/providers/delivery.test.ts'],
      breaks: 'a secret in base64 is shown',
      from: "    Buffer.from(secret).toString('base64'),\n",
      to: '',
    },
  ],
}
