// What a program says about alerts: rules of its own, and other thresholds for those that are built in.
import type { Duration } from '../contract/duration.ts'
import { toMs } from '../contract/duration.ts'
import { suggestion } from '../did-you-mean.ts'
import { InvalidDefinition } from '../errors.ts'
import type { AlertSeverity } from '../store/alerts.ts'
import { BUILT_IN } from './conditions.ts'
import { type AlertRule, defineAlert } from './rule.ts'

export interface AlertSettings {
  readonly threshold?: number
  readonly clearAt?: number
  readonly for?: Duration
  readonly severity?: AlertSeverity
  /** Only these subjects: names of queues, types, lanes. */
  readonly only?: readonly string[]
  /** Who is told; null: nobody. */
  readonly escalate?: AlertRule['escalate'] | null
}

export interface AlertOptions {
  /** Of the program's own: see defineAlert. */
  readonly rules?: readonly AlertRule[]
  /** By name of a built-in alert; false switches it off. All programs on a database should say the same. */
  readonly settings?: Readonly<Record<string, AlertSettings | false>>
}

export interface AlertRules {
  readonly builtIn: readonly AlertRule[]
  readonly own: readonly AlertRule[]
}

/** Refuses names that no built-in alert has, and rules of the same name. */
export function alertRules({ rules = [], settings = {} }: AlertOptions = {}): AlertRules {
  const names = BUILT_IN.map(({ name }) => name)
  for (const name of Object.keys(settings)) {
    if (!names.includes(name))
      throw new InvalidDefinition(
        `There is no built-in alert "${name}".${suggestion(name, names)} Expected one of: ${names.join(', ')}.`,
      )
  }
  const seen = new Set(names)
  for (const { name } of rules) {
    if (seen.has(name)) throw new InvalidDefinition(`Two alerts have the name "${name}". Rename yours.`)
    seen.add(name)
  }
  return { builtIn: BUILT_IN.flatMap((rule) => adjusted(rule, settings[rule.name])), own: rules }
}

function adjusted(rule: AlertRule, settings: AlertSettings | false | undefined): AlertRule | [] {
  if (settings === undefined) return rule
  if (settings === false) return []
  const { for: duration, escalate, ...rest } = settings
  const scale = rule.threshold === 0 ? 1 : (rest.threshold ?? rule.threshold) / rule.threshold
  const { link, owner, forMs, ...definition } = rule
  return {
    ...defineAlert(rule.name, {
      ...definition,
      // A hysteresis that is not set stays in proportion.
      clearAt: rule.clearAt * scale,
      ...rest,
      for: duration === undefined ? forMs : toMs(duration, `alerts.settings.${rule.name}.for`),
      ...(escalate !== undefined && { escalate: escalate ?? undefined }),
    } as Parameters<typeof defineAlert>[1]),
    ...{ link, owner },
  }
}
