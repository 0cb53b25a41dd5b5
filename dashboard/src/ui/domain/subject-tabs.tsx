// The tabs of a workflow or layout: its editor and its history. Each is a page with an address of its own.
import { Link } from '@tanstack/react-router'
import { cn } from '../base/class-names.ts'

interface SubjectTabsProps {
  kind: 'workflow' | 'layout'
  id: string
  current: 'editor' | 'history'
}

const tab = (isCurrent: boolean) => ({
  'aria-current': isCurrent ? ('page' as const) : undefined,
  className: cn(
    'flex h-9 items-center border-b-2 text-sm font-medium whitespace-nowrap transition-colors duration-120 pointer-coarse:h-11',
    isCurrent ? 'border-accent text-ink' : 'border-transparent text-muted hover:text-ink',
  ),
})

export function SubjectTabs({ kind, id, current }: SubjectTabsProps) {
  const [editor, history] = [tab(current === 'editor'), tab(current === 'history')]
  return (
    <nav aria-label={kind === 'workflow' ? 'Workflow' : 'Layout'} className="mr-2 flex gap-4">
      {kind === 'workflow' ? (
        <>
          <Link to="/workflows/$workflowId" params={{ workflowId: id }} search={{}} {...editor}>
            Editor
          </Link>
          <Link to="/workflows/$workflowId/history" params={{ workflowId: id }} search={{}} {...history}>
            History
          </Link>
        </>
      ) : (
        <>
          <Link to="/layouts/$layoutId" params={{ layoutId: id }} search={{}} {...editor}>
            Editor
          </Link>
          <Link to="/layouts/$layoutId/history" params={{ layoutId: id }} search={{}} {...history}>
            History
          </Link>
        </>
      )}
    </nav>
  )
}
