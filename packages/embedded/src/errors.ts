export type EmbeddedErrorCode =
  | 'unsupported_platform'
  | 'binaries_missing'
  | 'binaries_unusable'
  | 'no_server_user'
  | 'place_unusable'
  | 'init_failed'
  | 'start_failed'
  | 'stop_failed'
  | 'cluster_busy'
  | 'version_mismatch'
  | 'bad_name'

/** Every failure of this package: what happened, what was expected, what to do. */
export class EmbeddedError extends Error {
  readonly code: EmbeddedErrorCode

  constructor(code: EmbeddedErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
    this.code = code
  }
}

export class UnsupportedPlatformError extends EmbeddedError {
  constructor(platform: string) {
    super(
      'unsupported_platform',
      `The embedded Postgres cannot run on ${platform}: it stops its server with Unix signals. ` +
        'Set DATABASE_URL to a server of your own, or work inside WSL or a container.',
    )
  }
}

export class BinariesMissingError extends EmbeddedError {
  readonly wanted: string

  constructor(wanted: string, cause?: unknown) {
    super(
      'binaries_missing',
      `No Postgres binaries: ${wanted} was not found. Install with optional dependencies (npm ci without ` +
        '--omit=optional), or set MILLRACE_POSTGRES_BIN to a directory with initdb and postgres, or set DATABASE_URL.',
      { cause },
    )
    this.wanted = wanted
  }
}

export class BinariesUnusableError extends EmbeddedError {
  readonly binDirectory: string

  constructor(binDirectory: string, reason: string, cause?: unknown) {
    super(
      'binaries_unusable',
      `The Postgres binaries in ${binDirectory} do not run: ${reason}. If the installation is damaged, delete that ` +
        'directory and start again. On a musl system such as Alpine, in a noexec directory or for another CPU, set ' +
        'MILLRACE_POSTGRES_BIN to a directory with binaries that do run.',
      { cause },
    )
    this.binDirectory = binDirectory
  }
}

export class NoServerUserError extends EmbeddedError {
  readonly tried: readonly string[]

  constructor(tried: readonly string[], reason: string) {
    super(
      'no_server_user',
      `Postgres refuses to run as root, and no other user can run it: ${reason} (tried ${tried.join(', ')}). ` +
        'Set MILLRACE_POSTGRES_USER to an existing user, or do not run as root.',
    )
    this.tried = tried
  }
}

/** A directory cannot be used because of who owns it or who may reach it. */
export class PlaceUnusableError extends EmbeddedError {
  constructor(what: string, reasons: readonly string[]) {
    super(
      'place_unusable',
      `No usable place for ${what}:\n${reasons.map((reason) => `  ${reason}`).join('\n')}\n` +
        'Set MILLRACE_STATE_HOME (or TMPDIR for throw-away servers) to a directory of your own that the user ' +
        'who runs Postgres can reach.',
    )
  }
}

export class InitFailedError extends EmbeddedError {
  constructor(dataDirectory: string, output: string, cause?: unknown) {
    super('init_failed', `initdb could not create ${dataDirectory}. It said:\n${output}`, { cause })
  }
}

export class StartFailedError extends EmbeddedError {
  constructor(reason: string, logFile: string, lastLines: string, cause?: unknown) {
    const log = lastLines === '' ? `Nothing was written to ${logFile}.` : `The end of ${logFile}:\n${lastLines}`
    super('start_failed', `Postgres did not start: ${reason}. ${log}`, { cause })
  }
}

export class StopFailedError extends EmbeddedError {
  readonly pid: number

  constructor(pid: number, waitedMs: number) {
    super(
      'stop_failed',
      `Postgres (pid ${pid}) still runs ${waitedMs / 1000} s after it was told to stop. ` +
        `Look at its log, then end it with: kill -QUIT ${pid}`,
    )
    this.pid = pid
  }
}

export class ClusterBusyError extends EmbeddedError {
  constructor(lockPath: string, holder: string, waitedMs: number) {
    super(
      'cluster_busy',
      `Another process (${holder}) has held ${lockPath} for more than ${waitedMs / 1000} s, although starting and ` +
        'stopping take seconds. If that process hangs, end it: its lock is then taken over.',
    )
  }
}

export class VersionMismatchError extends EmbeddedError {
  constructor(dataDirectory: string, dataMajor: string, binDirectory: string, binMajor: string) {
    super(
      'version_mismatch',
      `The data in ${dataDirectory} belongs to Postgres ${dataMajor}, but the binaries in ${binDirectory} are ` +
        `Postgres ${binMajor}. Use binaries of version ${dataMajor} (MILLRACE_POSTGRES_BIN), or another cluster name, ` +
        'or delete that directory to begin with an empty database.',
    )
  }
}

export class BadNameError extends EmbeddedError {
  constructor(name: string) {
    super(
      'bad_name',
      `"${name}" cannot name a cluster: it becomes a directory name, so use 1 to 80 letters, digits, "_", "-" and ".".`,
    )
  }
}
