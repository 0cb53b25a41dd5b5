// Faults in what browsers load.
export const browser = {
  'inbox/src/data/client.ts': [
    {
      breaks: 'a count is not taken back after a refusal',
      from: 'this.#move(known, -by)',
      to: 'this.#move(known, 0)',
    },
  ],
  'dashboard/src/ui/list/url-state.ts': [
    {
      breaks: 'a new filter stays on page 7',
      from: '{ ...previous, ...cursors, ...patch }',
      to: '{ ...previous, ...patch }',
    },
  ],
  'dashboard/src/pages/workflows/draft/draft.ts': [
    {
      tests: ['dashboard/test/workflows.test.ts'],
      build: true,
      breaks: 'an autosave is not tried again after a 503',
      from: 'const pause = setTimeout(() => void flush(), retryMs)',
      to: 'const pause = setTimeout(() => undefined, retryMs)',
    },
  ],
}
