// Faults in what browsers load.
export const browser = {
  'inbox/src/data/client.ts': [
    {
      breaks: 'a count is not taken back after a refusal',
      from: 'this.#shiftCounts(known, -by)',
      to: 'this.#shiftCounts(known, 0)',
    },
  ],
  'dashboard/src/ui/list/url-state.ts': [
    {
      breaks: 'a new filter stays on page 7',
      from: '{ ...previous, ...firstPage, ...patch }',
      to: '{ ...previous, ...patch }',
    },
  ],
  'dashboard/src/pages/workflows/draft/draft.ts': [
    {
      breaks: 'an autosave is not tried again after a 503',
      from: '(error.status === 0 || error.status >= 500)',
      to: 'error.status === 0',
    },
  ],
  'dashboard/src/pages/workflows/draft/merge.ts': [
    {
      breaks: 'what a colleague changed is overwritten',
      from: 'if (same(mine, theirs) || same(base, theirs)) return mine',
      to: 'if (!same(base, theirs)) return mine',
    },
    {
      breaks: 'a step that a colleague changed is deleted without a question',
      from: 'if (theirs && isAlike(theirs, base)) return undefined',
      to: 'if (theirs) return undefined',
    },
  ],
  'inbox/src/data/notification.ts': [
    { breaks: 'the oldest comes first', from: 'return newer - older ||', to: 'return older - newer ||' },
    { breaks: 'one of several tag groups is enough', from: 'groupsOf(tags).every(', to: 'groupsOf(tags).some(' },
    {
      breaks: 'a list of values has to match whole',
      from: 'wanted.some((each) => hasValue(each, value))',
      to: 'wanted.every((each) => hasValue(each, value))',
    },
  ],
  'dashboard/src/pages/subscribers/csv.ts': [
    { breaks: 'a formula in a name is computed by the spreadsheet', from: '/^[=@\\t\\r]|', to: '/^[@\\t\\r]|' },
    {
      breaks: 'an export cannot be imported',
      from: 'formula.test(cell.slice(1)) ? cell.slice(1) : cell',
      to: 'formula.test(cell) ? cell.slice(1) : cell',
    },
  ],
  'dashboard/src/ui/base/time.tsx': [
    { breaks: 'what is to come is past', from: 'return seconds < 0 ?', to: 'return seconds > 0 ?' },
    {
      breaks: 'seconds of a minute are lost',
      from: "'min', Math.round(seconds % 60), 's')",
      to: "'min', Math.round(seconds / 60), 's')",
    },
  ],
}
