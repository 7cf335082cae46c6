-- COLLATE "C": texts are ordered by their bytes, as in SQLite.
CREATE TABLE documents (
    collection TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    revision BIGINT NOT NULL,
    body TEXT NOT NULL,
    expires_ms BIGINT,
    updated_ms BIGINT NOT NULL,
    PRIMARY KEY (collection, id)
);
CREATE INDEX documents_expire ON documents (expires_ms) WHERE expires_ms IS NOT NULL;

-- A row is a bundle of records that were added together: one by one they would cost more than the calls they tell of.
-- The columns say what is in it, so that searches pass by most bundles.
CREATE TABLE audit (
    writer TEXT COLLATE "C" NOT NULL,
    first BIGINT NOT NULL,
    last BIGINT NOT NULL,
    from_ms BIGINT NOT NULL,
    to_ms BIGINT NOT NULL,
    -- Of all of them, if it is one.
    principal TEXT COLLATE "C",
    count BIGINT NOT NULL,
    -- Packed, as LZ4: what is not written costs nothing.
    records BYTEA NOT NULL,
    PRIMARY KEY (writer, last)
);
CREATE INDEX audit_by_time ON audit (to_ms, writer, last);

-- Tells other replicas which collection changed, once for each transaction.
CREATE FUNCTION toolgate_tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('toolgate_changes', COALESCE(NEW.collection, OLD.collection));
    RETURN NULL;
END
$$;
CREATE TRIGGER documents_changed AFTER INSERT OR UPDATE OR DELETE ON documents
    FOR EACH ROW EXECUTE FUNCTION toolgate_tell();
