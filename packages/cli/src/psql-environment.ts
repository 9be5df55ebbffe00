// A connection string as the environment variables of libpq: what stands on a command line, every user of the machine
// can read.
import { PsqlUnusable } from './psql-program.ts'

/** Parameters of connection strings that psql understands too. Others are for other clients, and left out. */
const VARIABLES: Record<string, string> = {
  host: 'PGHOST',
  port: 'PGPORT',
  user: 'PGUSER',
  password: 'PGPASSWORD',
  dbname: 'PGDATABASE',
  sslmode: 'PGSSLMODE',
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
  sslnegotiation: 'PGSSLNEGOTIATION',
  channel_binding: 'PGCHANNELBINDING',
  application_name: 'PGAPPNAME',
  connect_timeout: 'PGCONNECT_TIMEOUT',
  client_encoding: 'PGCLIENTENCODING',
  target_session_attrs: 'PGTARGETSESSIONATTRS',
  options: 'PGOPTIONS',
}

export function environmentFor(url: string, env: NodeJS.ProcessEnv, schema = 'millrace'): NodeJS.ProcessEnv {
  const given = variablesOf(url)
  // Without a host our workers go to localhost, psql to a socket.
  const host = given.PGHOST ?? env.PGHOST ?? 'localhost'
  // Ours comes last and wins: an application's own search path would hide the views.
  const searchPath = `-c search_path=${/^[a-z_][a-z0-9_]*$/.test(schema) ? schema : `"${schema}"`},public`
  const options = [given.PGOPTIONS ?? env.PGOPTIONS, searchPath].filter(Boolean).join(' ')
  return { ...env, PGAPPNAME: 'millrace psql', ...given, PGHOST: host, PGOPTIONS: options }
}

function variablesOf(text: string): NodeJS.ProcessEnv {
  const url = parse(text)
  const parts: Record<string, string> = {
    host: decodeURIComponent(url.hostname.replace(/^\[(.+)\]$/, '$1')),
    port: url.port,
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    dbname: decodeURIComponent(url.pathname.slice(1)),
    ...Object.fromEntries(url.searchParams),
  }
  if (parts.sslmode === 'no-verify') parts.sslmode = 'require'
  const known = Object.entries(parts).filter(([name, value]) => name in VARIABLES && value !== '')
  return Object.fromEntries(known.map(([name, value]) => [VARIABLES[name], value]))
}

function parse(text: string): URL {
  try {
    // A user without a host is fine for Postgres, but not for a URL.
    const url = new URL(text.replace(/^(postgres(?:ql)?:\/\/[^/?#]*@)(?=[/?#]|$)/, '$1localhost'))
    if (/^postgres(ql)?:$/.test(url.protocol)) return url
  } catch {
    // It would be shown with the password in it.
  }
  throw new PsqlUnusable(
    'The database URL cannot be read. Expected postgres://user:password@host:5432/database, with special characters in the password written as %40 and the like.',
  )
}
