// The fields of the query language: what each one asks about, and what kind of value it takes.

export type FieldKind =
  /** One of the seven statuses. */
  | 'status'
  /** A short text that is compared as a whole: a queue, a tenant. */
  | 'name'
  /** A long text, in which a part is looked for. */
  | 'text'
  | 'number'
  /** The number of a job or a workflow. */
  | 'id'
  | 'uuid'
  /** The beginning of a fingerprint is enough. */
  | 'fingerprint'
  | 'time'
  | 'duration'
  /** A place in the payload: text, number or anything else. */
  | 'payload'

export interface Field {
  readonly name: FieldName
  readonly kind: FieldKind
  /** One line for people who are typing. */
  readonly about: string
  readonly example: string
  /** No index helps: every job that the other terms leave is looked at. */
  readonly isScanned: boolean
}

export type FieldName = keyof typeof KINDS

const KINDS = {
  status: ['status', 'the state of the job', 'status:dead,failed'],
  queue: ['name', 'the queue', 'queue:mail'],
  type: ['name', 'the job type', 'type:mail.*'],
  tenant: ['name', 'the tenant', 'tenant:org_7'],
  id: ['id', 'the id of the job', 'id:48211'],
  attempt: ['number', 'how often it was tried', 'attempt:>3'],
  priority: ['number', 'the priority; lower runs first', 'priority:<3'],
  created: ['time', 'when it was enqueued', 'created:>-2h'],
  due: ['time', 'when it is or was due', 'due:<-10m'],
  started: ['time', 'when its last run started', 'started:>-5m'],
  finished: ['time', 'when it ended', 'finished:2026-11-18'],
  waited: ['duration', 'how long it was due before it started, or is due so far', 'waited:>5m'],
  took: ['duration', 'how long its last run took, or runs so far', 'took:>30s'],
  error: ['text', 'its last error', 'error:~"timeout"'],
  reason: ['text', 'why it was cancelled or died', 'reason:exhausted'],
  fp: ['fingerprint', 'the fingerprint of its last error', 'fp:9f3a'],
  correlation: ['name', 'the correlation id', 'correlation:job-48211'],
  workflow: ['id', 'the id of its workflow', 'workflow:17'],
  parent: ['id', 'the id of the job that enqueued it', 'parent:48211'],
  worker: ['uuid', 'the id of the worker that ran it last', 'worker:0190c2d4-5e0a-7aa1-8a51-0b9f1d2c3e4f'],
  by: ['name', 'who enqueued it', 'by:ann'],
  key: ['name', 'its dedup key', 'key:invoice-17'],
  payload: ['payload', 'a value in the payload', 'payload.user.id:42'],
} as const satisfies Record<string, readonly [FieldKind, string, string]>

const SCANNED: ReadonlySet<FieldKind> = new Set(['text', 'payload'])

export const FIELDS: readonly Field[] = Object.entries(KINDS).map(([name, [kind, about, example]]) => ({
  name: name as FieldName,
  kind,
  about,
  example,
  isScanned: SCANNED.has(kind),
}))

const BY_NAME: ReadonlyMap<string, Field> = new Map(FIELDS.map((field) => [field.name, field]))

export const fieldOf = (name: string): Field | undefined => BY_NAME.get(name)

export const STATUSES = ['pending', 'processing', 'blocked', 'failed', 'completed', 'cancelled', 'dead'] as const
