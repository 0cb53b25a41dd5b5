// The custom step: its rendered values are its result.
import { renderValues } from '../../render/values.ts'
import { openObject, type StepKind, withoutNulls } from '../contract/kind.ts'
import { detail } from '../contract/outcome.ts'
import { situationOf } from '../contract/step-run.ts'

export const custom: StepKind = {
  type: 'custom',
  obeysSchedule: true,

  begin(of) {
    const { skip: _, ...values } = of.values
    const output = of.isRendered ? of.values : renderValues(values, situationOf(of), of.run.translator)
    return { kind: 'done', details: [detail('processed')], output }
  },

  dataSchema: openObject,
  normalise: withoutNulls,
  resultSchema: () => openObject,
}
