// Who sends the spans. Not the command line: it may hold the password of a database.
import { hostname } from 'node:os'
import type { Attributes } from '@opentelemetry/api'
import { detectResources, envDetector, type Resource, resourceFromAttributes } from '@opentelemetry/resources'
import type { Env } from './settings.ts'

export interface ServiceFacts {
  /** `service.name`. Default: OTEL_SERVICE_NAME, else 'millrace'. */
  service?: string | undefined
  /** `service.version`. */
  version?: string | undefined
  /** `deployment.environment.name`. Default: NODE_ENV. */
  environment?: string | undefined
  /** More attributes of the resource. Those in OTEL_RESOURCE_ATTRIBUTES are there too. */
  attributes?: Attributes | undefined
}

export function resourceOf({ service, version, environment, attributes }: ServiceFacts, env: Env): Resource {
  const host = hostname()
  const known: Attributes = {
    'service.name': 'millrace',
    'service.instance.id': `${host}:${process.pid}`,
    'host.name': host,
    'process.pid': process.pid,
    'process.runtime.name': 'nodejs',
    'process.runtime.version': process.versions.node,
    ...given('deployment.environment.name', env.NODE_ENV),
  }
  const named = {
    ...given('service.name', service),
    ...given('service.version', version),
    ...given('deployment.environment.name', environment),
    ...attributes,
  }
  return resourceFromAttributes(known)
    .merge(detectResources({ detectors: [envDetector] }))
    .merge(resourceFromAttributes(named))
}

const given = (name: string, value: string | undefined): Attributes => (value ? { [name]: value } : {})
