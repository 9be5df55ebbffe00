// Contracts made from the catalogue, for programs that do not have the code of a job type. The functions of the real ones are missing:
// what those derive from a payload is not known here.
import type { Budget } from '../contract/budget.ts'
import { LIVE } from '../contract/dedupe.ts'
import type { JobContract } from '../contract/job.ts'
import type { Limit } from '../contract/limit.ts'
import type { Queue } from '../contract/queue.ts'
import type { Registry } from '../contract/registry.ts'
import { defaultBackoff } from '../contract/retry.ts'
import { DEFAULT_BREAKER, type Service } from '../contract/service.ts'
import type { CatalogueDocuments, CatalogueKind, CatalogueQueue, CatalogueType } from './catalogue-document.ts'
import { payloadBySchema, uncheckedPayload } from './catalogue-payload.ts'

export type NamedDocument = {
  [Kind in CatalogueKind]: { kind: Kind; name: string; document: CatalogueDocuments[Kind] }
}[CatalogueKind]

/** The kinds that contracts are made of. */
export const CONTRACT_KINDS = ['type', 'queue', 'limit', 'budget', 'service'] as const satisfies CatalogueKind[]

/** Of all types that `own` does not have. What `own` declares by the same name is shared with it. */
export function contractsFrom(documents: readonly NamedDocument[], own: Registry): JobContract[] {
  const parts = new Parts(documents, own)
  return documents.flatMap((each) =>
    each.kind === 'type' && own.find(each.name) === undefined ? contractFrom(each.name, each.document, parts) : [],
  )
}

function contractFrom(type: string, document: CatalogueType, parts: Parts): JobContract {
  const { version, speed, retention, history, examples, allowSecrets, sensitive, order, keyLimit } = document
  return {
    logs: 'off',
    ...{ type, version, speed, retention, history, examples, allowSecrets, sensitive },
    queue: parts.queue(document.queue),
    payload: document.schema === null ? uncheckedPayload : payloadBySchema(document.schema),
    migrate: {},
    result: undefined,
    retry: {
      attempts: document.attempts,
      backoff: defaultBackoff,
      giveUpAfterMs: document.giveUpAfterMs ?? undefined,
      onExhausted: document.onExhausted,
    },
    timeoutMs: document.timeoutMs ?? undefined,
    dedupeKey: undefined,
    dedupe: document.dedupe ?? LIVE,
    order: order === null ? undefined : { key: () => null, stops: order.onDead === 'stop' },
    keyLimit: keyLimit === null ? undefined : { key: () => null, concurrency: keyLimit.concurrency },
    tenantOf: undefined,
    limits: document.limits.flatMap((name) => parts.limit(name) ?? []),
    costOf: undefined,
    redrive: document.redrive ?? undefined,
    budget: document.budget === null ? undefined : parts.budget(document.budget),
    services: document.services.map((name) => parts.service(name)),
    // Published by workers of the last version only.
    attributes: document.attributes ?? [],
    derivesTenant: false,
  }
}

/** What contracts share by name, made once. */
class Parts {
  readonly #documents: ReadonlyMap<string, NamedDocument>
  readonly #made = new Map<string, unknown>()
  readonly #own: Registry

  constructor(documents: readonly NamedDocument[], own: Registry) {
    this.#documents = new Map(documents.map((each) => [`${each.kind} ${each.name}`, each]))
    this.#own = own
  }

  queue(name: string): Queue {
    return this.#once('queue', name, (document) => queueFrom(name, document, this))
  }

  limit(name: string): Limit | undefined {
    return this.#once('limit', name, (document) => document && limitFrom(name, document))
  }

  budget(name: string): Budget | undefined {
    return this.#once(
      'budget',
      name,
      (document) => this.#own.findBudget(name) ?? (document && budgetFrom(name, document)),
    )
  }

  service(name: string): Service {
    return this.#once(
      'service',
      name,
      (document) => this.#own.service(name) ?? { name, ...(document ?? DEFAULT_BREAKER), counts: undefined },
    )
  }

  #once<Kind extends CatalogueKind, Part>(
    kind: Kind,
    name: string,
    make: (document: CatalogueDocuments[Kind] | undefined) => Part,
  ): Part {
    const key = `${kind} ${name}`
    if (!this.#made.has(key)) {
      const document = this.#documents.get(key)?.document as CatalogueDocuments[Kind] | undefined
      this.#made.set(key, make(document))
    }
    return this.#made.get(key) as Part
  }
}

function queueFrom(name: string, document: CatalogueQueue | undefined, parts: Parts): Queue {
  const { priority = 5, concurrency = 10, pollIntervalMs = 1_000, tenant = 'optional', boost = [] } = document ?? {}
  const { title, owner, color, use, escalation } = document ?? {}
  const facts = Object.entries({ title, owner, color, use, escalation }).filter(([, fact]) => fact != null)
  return {
    ...{ name, priority, concurrency, pollIntervalMs, boost },
    options: { tenant },
    limits: document?.limits.flatMap((limit) => parts.limit(limit) ?? []) ?? [],
    tenantJobs: document?.tenantJobs ?? undefined,
    isCritical: document?.isCritical ?? false,
    slaMs: document?.slaMs ?? undefined,
    facts: Object.fromEntries(facts),
  }
}

function limitFrom(name: string, { running, perProcess, rate, isPerTenant }: CatalogueDocuments['limit']): Limit {
  return {
    ...{ name, isPerTenant },
    running: running ?? undefined,
    perProcess: perProcess ?? undefined,
    rate: rate ?? undefined,
  }
}

function budgetFrom(name: string, { hasSource, ...document }: CatalogueDocuments['budget']): Budget {
  return { name, ...document, source: undefined, isForeign: hasSource }
}
