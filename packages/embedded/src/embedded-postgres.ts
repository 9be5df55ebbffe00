/** A running server and how to leave it. */
export interface EmbeddedPostgres extends AsyncDisposable {
  /** Connection string of the database `millrace`, for a superuser. */
  readonly url: string
  readonly port: number
  /** Of the server's main process. */
  readonly pid: number
  readonly dataDirectory: string
  /** Such as "18.4". */
  readonly version: string
  /** Safe to call more than once. */
  stop(): Promise<void>
}
