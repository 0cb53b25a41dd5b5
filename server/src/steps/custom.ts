// The custom step: whatever its values render to is its result.
import { openObject, type StepKind, withoutNulls } from './kind.ts'

export const custom: StepKind = {
  type: 'custom',
  dataSchema: openObject,
  normalise: withoutNulls,
  resultSchema: () => openObject,
}
