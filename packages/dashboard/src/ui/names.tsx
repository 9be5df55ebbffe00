// Names that link to the screen about the thing. What a name holds is text, whoever chose it.
import { Link } from './link.tsx'
import { useQueueClass } from './queue-colour.ts'

export interface NameProps {
  name: string
  /** Without a link, such as inside of a link or on the screen of the thing itself. */
  plain?: boolean
}

const path = (root: string, name: string) => `${root}/${encodeURIComponent(name)}`

/** A queue: its colour never stands without its name. */
export function QueueName({ name, plain = false }: NameProps) {
  const inner = <span className={`q ${useQueueClass(name)}`}>{name}</span>
  return plain ? inner : <Link to={path('/queues', name)}>{inner}</Link>
}

/** A tenant; null: work of nobody in particular. */
export function TenantName({ name, plain = false }: { name: string | null; plain?: boolean }) {
  if (name === null) return <span className="faint">no tenant</span>
  const inner = <span className="mono">{name}</span>
  return plain ? inner : <Link to={path('/tenants', name)}>{inner}</Link>
}

export function JobId({ id, plain = false }: { id: string; plain?: boolean }) {
  const inner = <span className="mono">{id}</span>
  return plain ? inner : <Link to={path('/jobs', id)}>{inner}</Link>
}

/** A job type. */
export const TypeName = ({ name }: { name: string }) => <span className="mono type">{name}</span>
