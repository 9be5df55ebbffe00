export function TenantsScreen() {
  return <h1 className="verdict">Tenants</h1>
}
