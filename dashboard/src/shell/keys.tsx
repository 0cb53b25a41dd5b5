// All keys of the dashboard, shown with "?".
import { Kbd } from '../ui/base/tooltip.tsx'
import { Dialog } from '../ui/frame/dialog.tsx'

const groups: Array<{ title: string; keys: Array<[keys: string, meaning: string]> }> = [
  {
    title: 'Everywhere',
    keys: [
      ['mod+k', 'Search pages, workflows, subscribers and runs'],
      ['?', 'Show these keys'],
      ['esc', 'Close what is open'],
    ],
  },
  {
    title: 'Lists',
    keys: [
      ['/', 'Go to the search field'],
      ['↓', 'From the search field into the rows'],
      ['j', 'Next row'],
      ['k', 'Previous row'],
      ['enter', 'Open the row'],
      ['x', 'Select the row'],
      ['c', 'Create'],
    ],
  },
  {
    title: 'Workflow editor',
    keys: [
      ['t', 'Test run'],
      ['mod+s', 'Save now'],
      ['alt+↑', 'Move the step up'],
      ['alt+↓', 'Move the step down'],
      ['del', 'Remove the step'],
    ],
  },
]

export function Keys({ onClose }: { onClose: () => void }) {
  return (
    <Dialog open onClose={onClose} title="Keys" size="md">
      <div className="grid gap-6 sm:grid-cols-2">
        {groups.map(({ title, keys }) => (
          <section key={title} aria-label={title}>
            <h3 className="mb-1 text-sm font-semibold">{title}</h3>
            <dl className="divide-y">
              {keys.map(([name, meaning]) => (
                <div key={name} className="flex min-h-9 items-center justify-between gap-4 text-sm">
                  <dt>{meaning}</dt>
                  <dd>
                    <Kbd keys={name} />
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  )
}
