"""Certificates for TLS between two ends on 127.0.0.1, made when they are needed and valid for a day."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import NameOID


@dataclass(frozen=True)
class Identity:
    """A certificate and its key; `issuer` is its own where nobody else vouches for it."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    def write(self, folder: Path, name: str, *, password: bytes = b"") -> tuple[Path, Path]:
        """The certificate and the key as PEM files."""
        cert, key = folder / f"{name}.pem", folder / f"{name}.key"
        cert.write_bytes(self.certificate.public_bytes(Encoding.PEM))
        hidden: KeySerializationEncryption = BestAvailableEncryption(password) if password else NoEncryption()
        key.write_bytes(self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, hidden))
        return cert, key


def identity(name: str, issuer: Identity | None = None) -> Identity:
    """A certificate authority, or a certificate for 127.0.0.1 that one has issued."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    signer = issuer.key if issuer else key
    own, theirs = key.public_key(), signer.public_key()
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.certificate.subject if issuer else subject)
        .public_key(own)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(own), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(theirs), critical=False)
    )
    return Identity(builder.sign(signer, hashes.SHA256()), key)
