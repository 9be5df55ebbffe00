// Every error of this package: what happened, what was expected, what to do.

export type RedisErrorCode =
  | 'invalid_option'
  | 'unavailable'
  | 'refused'
  | 'unknown'
  | 'buffer_unavailable'
  | 'buffer_full'
  | 'lock_busy'
  | 'lock_unavailable'
  | 'lock_lost'

export class RedisError extends Error {
  readonly code: RedisErrorCode

  constructor(code: RedisErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = new.target.name
    this.code = code
  }
}

/** An option or a job type that cannot work with this package. */
export class InvalidRedisOption extends RedisError {
  constructor(message: string) {
    super('invalid_option', message)
  }
}

/** Nothing was sent, so nothing has happened: there is no usable connection. */
export class RedisUnavailable extends RedisError {
  constructor(why: string, cause?: unknown) {
    super('unavailable', `Redis cannot be used: ${why}. Nothing was sent.`, cause)
  }
}

/** Redis answered with an error, so nothing has happened. `reply` is the first word of its answer, such as OOM or READONLY. */
export class RedisRefused extends RedisError {
  readonly reply: string

  constructor(text: string, cause?: unknown) {
    super('refused', `Redis refused a command: ${text}`, cause)
    this.reply = text.split(' ', 1)[0] ?? ''
  }
}

/** The command was sent and its answer did not come: it may have run. */
export class RedisUnknown extends RedisError {
  constructor(why: string, cause?: unknown) {
    super('unknown', `A command was sent to Redis, and ${why}. It may have run.`, cause)
  }
}

/** Redis could not take the job, and the buffer may not write to PostgreSQL instead. Nothing was enqueued. */
export class BufferUnavailable extends RedisError {
  constructor(type: string, cause: unknown) {
    super(
      'buffer_unavailable',
      `The job of type "${type}" was not enqueued: ${cause instanceof Error ? cause.message : String(cause)} Try again later, or create the buffer with otherwise: 'enqueue'.`,
      cause,
    )
  }
}

/** The buffer holds as many jobs as it may. Nothing was enqueued. */
export class BufferFull extends RedisError {
  readonly tenant: string | null

  constructor(type: string, { tenant, bound }: { tenant: string | null; bound: string }) {
    super(
      'buffer_full',
      `The job of type "${type}" was not enqueued: the buffer ${bound}. Try again later; a mover has to bring jobs to PostgreSQL first.`,
    )
    this.tenant = tenant
  }
}

/** Somebody else holds the lock. */
export class LockBusy extends RedisError {
  constructor(name: string) {
    super('lock_busy', `The lock "${name}" is held by another process. Try again later.`)
  }
}

/** Redis cannot say who holds the lock, so it is not given to anybody. */
export class LockUnavailable extends RedisError {
  constructor(name: string, cause: unknown) {
    super(
      'lock_unavailable',
      `The lock "${name}" was not given: ${cause instanceof Error ? cause.message : String(cause)} Without Redis no lock is given.`,
      cause,
    )
  }
}

/** Another holder has been given the lock since: nothing may be written under this one. */
export class LockLost extends RedisError {
  constructor(name: string, { fence, newest }: { fence: bigint; newest: bigint }) {
    super(
      'lock_lost',
      `The lock "${name}" was lost: this holder has fence ${fence}, and ${newest} was given since. Let the transaction roll back.`,
    )
  }
}
