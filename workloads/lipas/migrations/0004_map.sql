-- What the map shows below squares and places, so that people know where they are.

create table lipas.map_feature (
  id integer primary key,
  kind text not null check (kind in ('lake', 'river', 'bridge')),
  name text not null,
  geometries jsonb not null               -- a GeoJSON FeatureCollection in WGS 84
);
