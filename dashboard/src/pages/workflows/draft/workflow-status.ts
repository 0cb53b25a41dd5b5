import type { WorkflowSummary } from '../../../api/workflows.ts'
import type { Tone } from '../../../ui/base/status.tsx'

export const states: Record<WorkflowSummary['status'], { word: string; tone: Tone }> = {
  ACTIVE: { word: 'Active', tone: 'good' },
  INACTIVE: { word: 'Inactive', tone: 'neutral' },
  ERROR: { word: 'Has issues', tone: 'bad' },
}
