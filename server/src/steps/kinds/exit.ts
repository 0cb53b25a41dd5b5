// The exit: ends the run, as it was meant to end.
import { closedObject, objectSchema, pickFilled, type StepKind, skip } from '../contract/kind.ts'
import { detail } from '../contract/outcome.ts'

export const exit: StepKind = {
  type: 'exit',
  isWait: true,
  begin: () => ({ kind: 'exit', details: [detail('exited')] }),
  dataSchema: objectSchema({ skip }),
  normalise: (values) => pickFilled(values, ['skip']),
  resultSchema: () => closedObject,
}
