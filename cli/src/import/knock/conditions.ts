// Conditions of Knock as JSON Logic. Here `skip` says when a step runs, as conditions do there.
import { isEmpty, isJson, type Json } from '../members.ts'
import { type Around, pathOf } from './texts.ts'

/** Undefined if there is none; false if it has parts that cannot be said. */
export function conditionOf(given: unknown, around: Around): Json | false | undefined {
  const { report, kind, id, path } = around
  const list = (why: string): false => {
    report.unmapped({ kind, id, path: `${path}.conditions`, code: 'condition', why })
    return false
  }
  if (isEmpty(given)) return undefined
  if (Array.isArray(given)) return together('all', given, around)
  if (!isJson(given)) return list(`${JSON.stringify(given)} is no condition`)
  if (!('all' in given || 'any' in given)) return one(given, around, list)
  const { all, any, ...others } = given
  for (const name of Object.keys(others)) return list(`${name} has no equivalent`)
  const groups = Object.entries({ all, any }).filter(([, members]) => !isEmpty(members))
  const sides = groups.map(([name, members]) =>
    Array.isArray(members) ? together(name, members, around) : list(`${name} is no list`),
  )
  return joined('and', sides)
}

const together = (name: string, members: unknown[], around: Around) =>
  joined(
    name === 'all' ? 'and' : 'or',
    members.map((each) => conditionOf(each, around)),
  )

function joined(operator: 'and' | 'or', parts: Array<Json | false | undefined>): Json | false | undefined {
  const said = parts.filter((part) => part !== undefined)
  if (said.some((part) => part === false)) return false
  return said.length > 1 ? { [operator]: said } : (said[0] as Json | undefined)
}

type List = (why: string) => false

function one({ variable, operator, argument, ...others }: Json, around: Around, list: List): Json | false {
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
function ofMessage(stepId: string, operator: string, argument: string, list: List): Json | false {
  const mark = argument.match(/^(?:\$message\.)?(seen|read)$/)?.[1]
  if (mark === undefined) return list(`whether a message is ${argument} is not known to later steps`)
  const isNot = operator === 'not_equal_to' || operator === 'not_contains'
  if (!isNot && operator !== 'equal_to' && operator !== 'contains')
    return list(`the operator ${operator} has no equivalent for messages`)
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
