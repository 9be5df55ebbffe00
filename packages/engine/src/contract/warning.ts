/** What a program may decide by. The message is for people, and may be worded otherwise in another version. */
export type EnqueueWarningCode =
  /** The name or the shape of a value is that of a secret. */
  | 'possible_secret'
  /** An integer beyond 2^53, where neighbours cannot be told apart. */
  | 'unsafe_integer'
  /** The tenant has more jobs in the queue than it should. */
  | 'tenant_limit'

/** What looks wrong in a job, but need not be. */
export interface EnqueueWarning {
  readonly code: EnqueueWarningCode
  readonly message: string
}

export const NO_WARNINGS: readonly EnqueueWarning[] = []
