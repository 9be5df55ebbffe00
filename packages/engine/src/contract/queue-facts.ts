// What people and alerts want to know about a queue. The engine itself does not act on it.
import { InvalidDefinition } from '../errors.ts'
import { encodeJson } from './payload.ts'

/** Whom to turn to about a queue. */
export interface QueueOwner {
  /** A team or a person: 'Ops On-Call'. */
  readonly name: string
  /** Where they are reached: 'slack', 'pagerduty', 'email'. */
  readonly channel?: string
  /** Their address there: '#platform-feeds'. */
  readonly address?: string
}

export interface QueueFacts {
  /** Its name for people. Default: its name. */
  readonly title?: string
  readonly owner?: QueueOwner
  /** In which dashboards draw it: a CSS color name, or '#rrggbb'. */
  readonly color?: string
  /** What it is for: 'mails that a person waits for'. */
  readonly use?: string
  /** Who is told when one of its jobs dies: the name of a policy, or the policy itself as plain data. Stored as declared. */
  readonly escalation?: string | Readonly<Record<string, unknown>>
}

const TEXTS = { title: 100, use: 500 } as const
const OWNER = { name: 100, channel: 100, address: 200 } as const
const COLOR = /^(#([0-9a-fA-F]{3}){1,2}|[a-zA-Z]{3,30})$/
const ESCALATION_BYTES = 16 * 1024

/** Only the facts, checked. Callers without types get here too. */
export function queueFacts(queue: string, options: QueueFacts): QueueFacts {
  const { title, owner, color, use, escalation } = options
  const refuse = (problem: string): never => {
    throw new InvalidDefinition(`Queue "${queue}" ${problem}`)
  }
  for (const [option, longest] of Object.entries(TEXTS))
    checkText(options[option as keyof typeof TEXTS], `has ${option}`, longest, refuse)
  if (color !== undefined && !(typeof color === 'string' && COLOR.test(color)))
    refuse(`has color ${JSON.stringify(color)}: expected a CSS color name like 'salmon', or '#rrggbb'.`)
  if (owner !== undefined) checkOwner(owner, refuse)
  if (escalation !== undefined) checkEscalation(escalation, refuse)
  return Object.fromEntries(
    Object.entries({ title, owner, color, use, escalation }).filter(([, value]) => value !== undefined),
  )
}

type Refuse = (problem: string) => never

function checkText(value: unknown, what: string, longest: number, refuse: Refuse): void {
  if (value === undefined) return
  if (typeof value === 'string' && value.trim() !== '' && value.length <= longest && !/\p{Cc}/u.test(value)) return
  refuse(`${what} ${JSON.stringify(value)}: expected one line of text of 1 to ${longest} characters.`)
}

function checkOwner(owner: QueueOwner, refuse: Refuse): void {
  const isObject = typeof owner === 'object' && owner !== null && !Array.isArray(owner)
  const unknown = isObject ? Object.keys(owner).find((key) => !Object.hasOwn(OWNER, key)) : undefined
  if (!isObject || owner.name === undefined || unknown !== undefined) {
    refuse(
      `has owner ${JSON.stringify(owner)}: expected { name, channel, address }, where channel and address may be missing.`,
    )
  }
  for (const [key, longest] of Object.entries(OWNER))
    checkText(owner[key as keyof QueueOwner], `has owner.${key}`, longest, refuse)
}

function checkEscalation(escalation: NonNullable<QueueFacts['escalation']>, refuse: Refuse): void {
  if (typeof escalation === 'string') {
    checkText(escalation, 'has escalation', 100, refuse)
    return
  }
  if (typeof escalation !== 'object' || escalation === null || Array.isArray(escalation))
    refuse(`has escalation ${JSON.stringify(escalation)}: expected the name of a policy, or an object.`)
  const encoded = encodeJson(escalation, { maxBytes: ESCALATION_BYTES, allowSecrets: [] })
  if ('refusal' in encoded) {
    const { path, message } = encoded.refusal
    refuse(`has an escalation that cannot be published${path === '' ? '' : `, at ${path}`}: ${message}.`)
  }
}
