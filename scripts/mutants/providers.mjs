// Faults in how other services are called and how their answers are read.
export const providers = {
  'server/src/providers/http-client.ts': [
    {
      breaks: 'credentials follow a redirect to another port',
      from: 'return from.origin === to.origin ||',
      to: 'return from.hostname === to.hostname ||',
    },
  ],
}
