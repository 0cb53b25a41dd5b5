// Conditions of Knock as JSON Logic. Here `skip` says when a step runs, as conditions do there.
import { isJson, type Json } from '../members.ts'
import { type Around, pathOf } from './texts.ts'

/** Undefined if there is none; false if it has parts that cannot be said. */
export function conditionOf(given: unknown, around: Around): Json | false | undefined {
  if (Array.isArray(given)) return given.length === 0 ? undefined : conditionOf({ all: given }, around)
  if (!isJson(given) || Object.keys(given).length === 0) return undefined
  const parts = (list: unknown) => (Array.isArray(list) ? list : []).map((each) => conditionOf(each, around))
  if ('all' in given || 'any' in given) {
    const inner = parts(given.all ?? given.any).filter((part) => part !== undefined)
    if (inner.some((part) => part === false)) return false
    if (inner.length === 0) return undefined
    return inner.length === 1 ? (inner[0] as Json) : { [given.all ? 'and' : 'or']: inner }
  }
  return one(given, around)
}

function one({ variable, operator, argument, ...others }: Json, around: Around): Json | false {
  const { report, workflowId: id, path } = around
  const list = (why: string): false => {
    report.unmapped({ kind: 'workflow', id, path: `${path}.conditions`, code: 'condition', why })
    return false
  }
  for (const name of Object.keys(others)) if (name !== 'argument_type') return list(`${name} has no equivalent`)
  const name = String(variable ?? '')
  const status = name.match(/^refs\.([\w-]+)\.(?:delivery_status|engagement_status)$/)
  if (status) return ofMessage(status[1] ?? '', String(operator), String(argument ?? ''), list)
  if (!/^(?:data|recipient|actor|vars|tenant|total_activities|refs)\b/.test(name))
    return list(`${name} has no equivalent`)
  const value = { var: pathOf(name, around) }
  const said = others.argument_type === 'dynamic' ? { var: pathOf(String(argument), around) } : literal(argument)
  switch (operator) {
    case 'equal_to':
      return { '==': [value, said] }
    case 'not_equal_to':
      return { '!=': [value, said] }
    case 'greater_than':
      return { '>': [value, said] }
    case 'greater_than_or_equal_to':
      return { '>=': [value, said] }
    case 'less_than':
      return { '<': [value, said] }
    case 'less_than_or_equal_to':
      return { '<=': [value, said] }
    case 'contains':
      return { in: [said, value] }
    case 'not_contains':
      return { '!': { in: [said, value] } }
    case 'contains_all':
      return Array.isArray(said) ? { and: said.map((each) => ({ in: [each, value] })) } : { in: [said, value] }
    case 'empty':
      return { '!': value }
    case 'not_empty':
    case 'exists':
      return { '!!': value }
    case 'not_exists':
      return { '!': value }
    default:
      return list(`the operator ${String(operator)} has no equivalent`)
  }
}

/** Whether an in-app message was seen or read. */
function ofMessage(stepId: string, operator: string, argument: string, list: (why: string) => false): Json | false {
  const mark = argument.match(/^(?:\$message\.)?(seen|read)$/)?.[1]
  if (mark === undefined) return list(`whether a message is ${argument} is not known to later steps`)
  const isNot = operator === 'not_equal_to' || operator === 'not_contains'
  return { '==': [{ var: `steps.${stepId}.${mark}` }, !isNot] }
}

/** Arguments are texts that may be JSON. */
function literal(argument: unknown): unknown {
  if (typeof argument !== 'string') return argument ?? null
  if (!/^(?:-?\d+(?:\.\d+)?|true|false|null|".*"|\[.*\])$/s.test(argument)) return argument
  try {
    return JSON.parse(argument)
  } catch {
    return argument
  }
}
