CREATE TABLE documents (
    collection TEXT NOT NULL,
    id TEXT NOT NULL,
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
    writer TEXT NOT NULL,
    first BIGINT NOT NULL,
    last BIGINT NOT NULL,
    from_ms BIGINT NOT NULL,
    to_ms BIGINT NOT NULL,
    -- Of all of them, if it is one.
    principal TEXT,
    count BIGINT NOT NULL,
    -- Packed, as LZ4: what is not written costs nothing.
    records BLOB NOT NULL,
    PRIMARY KEY (writer, last)
);
CREATE INDEX audit_by_time ON audit (to_ms, writer, last);

-- Counts the changes of each collection, for other processes to notice.
CREATE TABLE marks (collection TEXT NOT NULL PRIMARY KEY, counter BIGINT NOT NULL);
CREATE TRIGGER documents_inserted AFTER INSERT ON documents BEGIN
    INSERT INTO marks VALUES (NEW.collection, 1) ON CONFLICT (collection) DO UPDATE SET counter = counter + 1;
END;
CREATE TRIGGER documents_updated AFTER UPDATE ON documents BEGIN
    INSERT INTO marks VALUES (NEW.collection, 1) ON CONFLICT (collection) DO UPDATE SET counter = counter + 1;
END;
CREATE TRIGGER documents_deleted AFTER DELETE ON documents BEGIN
    INSERT INTO marks VALUES (OLD.collection, 1) ON CONFLICT (collection) DO UPDATE SET counter = counter + 1;
END;
